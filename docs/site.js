// The theme puts wide tables into elements that scroll; this lets the keyboard reach and scroll them.
function makeFocusable() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    wrap.tabIndex = 0;
  }
}

new MutationObserver(makeFocusable).observe(document.body, { childList: true, subtree: true });
makeFocusable();
