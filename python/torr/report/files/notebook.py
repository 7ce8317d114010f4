"""A result inside a notebook: its report page in a frame, with the verdict and the trust line.

A notebook's front end strips scripts from HTML, but shows a frame that brings its own document. The
frame is sandboxed: its script reaches neither the notebook nor any host. The words lie in the same
place, under the frame: they are read where a viewer such as GitHub's removes frames or forbids
scripts.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from torr.report.files import html
from torr.report.text import sentence, trust

if TYPE_CHECKING:
    from torr.results.result import RunResult

MOST_BYTES = 2_000_000
"""Jupyter drops outputs of more than 3 MB within three seconds, and saves the others."""
_FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" title="{title}" '
    'style="grid-area:1/1;width:100%;height:min(46em,90vh);border:0" '
    "srcdoc='{page}'></iframe>"
)
_WORDS = '<div style="grid-area:1/1"><p><b>{verdict}</b></p><p>{trust}</p>{more}</div>'


def fragment(result: RunResult) -> str:
    """Return the fragment: at most MOST_BYTES and the words, which say where a larger page is."""
    page = html.page(result)
    frame = _FRAME.format(title=escape(result.name), page=_quoted(page))
    is_shown = len(frame.encode()) <= MOST_BYTES
    more = "" if is_shown else f"<p>{_too_large(len(page.encode()))}</p>"
    verdict, line = sentence.verdict(result), trust.trust(result)
    words = _WORDS.format(verdict=escape(verdict), trust=escape(line), more=more)
    return f'<div style="display:grid">{words}{frame if is_shown else ""}</div>'


def _quoted(page: str) -> str:
    """Escape a page for an attribute in single quotes: it has thousands of double ones."""
    return escape(page, quote=False).replace("'", "&#39;")


def _too_large(size: int) -> str:
    return (
        f"The report page has {size / 1e6:.1f} MB, too much for a notebook: "
        "<code>result.report()</code> writes it as a file."
    )
