// A part of the page as one SVG: its text, its SVGs with the styles of the style sheet, and its
// canvases as vectors. Controls and tooltips are left out.

import { svg } from "../dom";
import { rounded, type Mark } from "./vector";

/** Returns the drawing on a canvas; null for an unknown canvas. */
export type Vectors = (canvas: HTMLCanvasElement) => Mark[] | null;

const EXCLUDED = "button, input, select, .tooltip, .visually-hidden, [role=status]";
const SHAPE_STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
];
const TEXT_STYLES = [
  "fill",
  "font-size",
  "font-weight",
  "font-family",
  "font-variant-numeric",
  "text-anchor",
];
/** Defaults of SVG, which need no attribute. */
const DEFAULT_STYLES: Record<string, string> = {
  "fill-opacity": "1",
  stroke: "none",
  "stroke-opacity": "1",
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "font-weight": "400",
  "font-variant-numeric": "normal",
  "text-anchor": "start",
};
/** Margin around a picture, in pixels. */
const MARGIN = 12;
/** Distance from the top of a line's box to its baseline, as a share of the box's height. */
const BASELINE = 0.79;

/** Return the picture of an element, on the page's background. */
export function pictureOf(element: HTMLElement, vectors: Vectors = () => null): SVGSVGElement {
  const restoreScroll = unscroll(element);
  const { left, top, width } = element.getBoundingClientRect();
  const picture = new Picture(vectors, left, top);
  picture.add(element);
  restoreScroll();
  const background = getComputedStyle(document.documentElement)
    .getPropertyValue("--background")
    .trim();
  const size = {
    width: rounded(width + 2 * MARGIN),
    height: rounded(picture.bottom - top + 2 * MARGIN),
  };
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      ...size,
      viewBox: `${-MARGIN} ${-MARGIN} ${size.width} ${size.height}`,
    },
    svg("rect", { x: -MARGIN, y: -MARGIN, ...size, fill: background }),
    ...picture.parts,
  );
}

class Picture {
  readonly parts: SVGElement[] = [];
  bottom = 0;

  constructor(
    private readonly vectors: Vectors,
    private readonly left: number,
    private readonly top: number,
  ) {}

  add(node: Node): void {
    if (node instanceof Text) this.addText(node);
    if (!(node instanceof Element) || node.matches(EXCLUDED) || !node.getClientRects().length)
      return;
    if (node instanceof HTMLCanvasElement) this.addCanvas(node);
    else if (node instanceof SVGSVGElement) this.addSvg(node);
    else node.childNodes.forEach((child) => { this.add(child); }); // prettier-ignore
  }

  private addCanvas(canvas: HTMLCanvasElement): void {
    const marks = this.vectors(canvas);
    const viewBox = `0 0 ${canvas.width} ${canvas.height}`;
    if (marks)
      this.parts.push(svg("svg", { ...this.box(canvas), viewBox }, ...marks.map(elementOf)));
  }

  private addSvg(drawn: SVGSVGElement): void {
    const copy = drawn.cloneNode(true) as SVGSVGElement;
    const clones = [...copy.querySelectorAll<SVGElement>("*")];
    [...drawn.querySelectorAll("*")].forEach((part, at) => {
      const clone = clones[at];
      if (clone) copyStyles(part, clone);
    });
    for (const name of copy.getAttributeNames()) {
      if (!["viewBox", "preserveAspectRatio"].includes(name)) copy.removeAttribute(name);
    }
    for (const [name, value] of Object.entries(this.box(drawn)))
      copy.setAttribute(name, String(value));
    this.parts.push(copy);
  }

  /** Add a text line by line; text with an ellipsis is clipped to its box. */
  private addText(text: Text): void {
    const parent = text.parentElement;
    if (!parent) return;
    const style = getComputedStyle(parent);
    const font = {
      fill: plainColour(style.color),
      "font-size": style.fontSize,
      "font-weight": style.fontWeight,
      "font-family": style.fontFamily,
    };
    const lines = linesOf(text).map(({ words, box }) => {
      this.bottom = Math.max(this.bottom, box.bottom);
      const [x, y] = [box.left - this.left, box.top - this.top + BASELINE * box.height];
      return svg("text", { x: rounded(x), y: rounded(y), ...font }, words);
    });
    const isCut = style.textOverflow === "ellipsis" && parent.scrollWidth > parent.clientWidth;
    if (!isCut) {
      this.parts.push(...lines);
      return;
    }
    const box = this.box(parent);
    const viewBox = `${box.x} ${box.y} ${box.width} ${box.height}`;
    this.parts.push(svg("svg", { ...box, viewBox }, ...lines));
  }

  private box(element: Element) {
    const { left, top, width, height, bottom } = element.getBoundingClientRect();
    this.bottom = Math.max(this.bottom, bottom);
    return {
      x: rounded(left - this.left),
      y: rounded(top - this.top),
      width: rounded(width),
      height: rounded(height),
    };
  }
}

/** Copy the styles that an element gets from the style sheet, as attributes. */
function copyStyles(element: Element, copy: SVGElement): void {
  for (const name of ["class", "tabindex", "role"]) copy.removeAttribute(name);
  if (["g", "title", "svg"].includes(element.tagName)) return;
  const style = getComputedStyle(element);
  for (const name of element.tagName === "text" ? TEXT_STYLES : SHAPE_STYLES) {
    const value = plainColour(style.getPropertyValue(name));
    if (value === DEFAULT_STYLES[name]) copy.removeAttribute(name);
    else copy.setAttribute(name, value);
  }
}

/** Return a mixed colour as `rgb()`, which programs other than browsers can read. */
function plainColour(value: string): string {
  const mixed = /^color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(value);
  if (!mixed) return value;
  return `rgb(${mixed.slice(1).map((part) => Math.round(255 * Number(part))).join(", ")})`; // prettier-ignore
}

function elementOf({ tag, attributes, text, marks = [] }: Mark): SVGElement {
  return svg(tag, attributes, text, ...marks.map(elementOf));
}

interface LineOfText {
  words: string;
  box: DOMRect;
}

/** Return the lines that a text is broken into, with the box of the first word of each. */
function linesOf(text: Text): LineOfText[] {
  const lines: LineOfText[] = [];
  const range = document.createRange();
  for (const match of text.data.matchAll(/\S+/g)) {
    range.setStart(text, match.index);
    range.setEnd(text, match.index + match[0].length);
    const box = range.getClientRects()[0];
    const last = lines.at(-1);
    if (!box) continue;
    if (last && Math.abs(last.box.top - box.top) < 2) last.words += ` ${match[0]}`;
    else lines.push({ words: match[0], box });
  }
  return lines;
}

/** Scroll everything in an element to its beginning; return how to restore it. */
function unscroll(element: HTMLElement): () => void {
  const scrolled = [...element.querySelectorAll("*")].filter((part) => part.scrollTop > 0);
  const before = scrolled.map((part): [Element, number] => [part, part.scrollTop]);
  for (const part of scrolled) part.scrollTop = 0;
  return () => {
    for (const [part, at] of before) part.scrollTop = at;
  };
}
