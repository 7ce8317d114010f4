// Creates elements of HTML and SVG. Strings become text nodes and are never parsed as HTML.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with attributes and children; strings become text. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes, children);
  return element;
}

/** Return an SVG element with attributes and children; strings become text. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes, children);
  return element;
}

/** Return a button that calls `onClick`. */
export function button(
  label: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

/** Return a label and a select of options, which are pairs of a value and its text. */
export function select(
  id: string,
  label: string,
  options: readonly (readonly [string, string])[],
  current: string,
  choose: (value: string) => void,
): HTMLElement[] {
  const element = el(
    "select",
    { id },
    ...options.map(([value, text]) => el("option", { value, selected: value === current }, text)),
  );
  element.addEventListener("change", () => choose(element.value));
  return [el("label", { for: id }, label), element];
}

/** Copy text, with `execCommand` if the Clipboard API is not allowed; return whether it worked. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const textarea = el("textarea", { class: "visually-hidden", "aria-hidden": "true" }, text);
    document.body.append(textarea);
    textarea.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without permission
    const isCopied = document.execCommand("copy");
    textarea.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    return isCopied;
  }
}

/** Save a file on the reader's machine. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function setAttributes(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
}
