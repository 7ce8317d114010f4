// A flame graph. A click on a box zooms in, a search highlights matches, arrow keys move the focus.
// With a second profile, colour and a sign before the name show which functions take more or less.

import {
  boxes,
  difference,
  height,
  matchedShare,
  moveOf,
  type Box,
  type FlameNode,
  type Move,
} from "../data/flame";
import { button, el, svg } from "../dom";
import { percent, points } from "../format";
import { chartHead } from "../picture/save";
import { translate } from "../translate";
import { legendList } from "./legend";

const ROW = 18;
const WIDTH = 1000;
const MIN_WIDTH = 0.0008;
const LETTER_WIDTH = 6.6;
const SIGNS: Record<Move, string> = { more: "+ ", less: "− ", same: "" };
const MOVES: readonly Move[] = ["more", "less", "same"];

/** Draws a flame graph until it is destroyed. */
export class FlameGraph {
  readonly element: HTMLElement;
  private readonly box = el("div", { class: "flame-box" });
  private readonly status = el("p", { class: "flame-status", role: "status" });
  private readonly search: HTMLInputElement;
  private root: FlameNode;
  private at = 0;
  private visible: Box[] = [];

  constructor(
    private readonly whole: FlameNode,
    private readonly show: (weight: number) => string,
    title: string,
    private readonly comparedWith: string | null = null,
  ) {
    this.root = whole;
    this.search = el("input", { type: "text", "aria-label": translate("flame.search"), size: 16 });
    this.search.placeholder = translate("flame.search");
    this.search.addEventListener("input", () => this.draw());
    const back = button(translate("flame.whole"), () => this.zoom(whole));
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-label", `${title}. ${translate("flame.keys")}`);
    this.box.addEventListener("keydown", (event) => this.move(event));
    this.element = el(
      "div",
      { class: "chart flame" },
      chartHead(() => this.element, title, this.search, back),
      comparedWith == null ? null : legend(comparedWith),
      this.box,
      this.status,
    );
    this.draw();
  }

  /** Remove the graph from the page. */
  destroy(): void {
    this.element.remove();
  }

  private zoom(node: FlameNode): void {
    this.root = node;
    this.at = 0;
    this.draw();
  }

  private draw(): void {
    this.visible = boxes(this.root, MIN_WIDTH);
    const rows = height(this.visible);
    const drawn = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${rows * ROW}`, width: "100%", preserveAspectRatio: "none" },
      ...this.visible.map((box, index) => this.drawBox(box, index)),
    );
    drawn.style.height = `${rows * ROW}px`;
    const words = this.visible
      .filter((box) => box.width * WIDTH > 4 * LETTER_WIDTH)
      .map((box) => label(box, this.whole));
    this.box.replaceChildren(
      drawn,
      el("div", { class: "flame-names", "aria-hidden": "true" }, ...words),
    );
    this.showDetails(this.visible[this.at]);
  }

  private drawBox(box: Box, index: number): SVGElement {
    const element = svg("rect", {
      x: box.from * WIDTH,
      y: box.depth * ROW,
      width: box.width * WIDTH,
      height: ROW - 1,
      class: this.classOf(box, index),
    });
    element.addEventListener("click", () => this.zoom(box.node));
    element.addEventListener("mousemove", () => this.showDetails(box));
    return element;
  }

  private classOf(box: Box, index: number): string {
    const text = this.search.value.toLowerCase();
    const isMatch = text !== "" && box.node.name.toLowerCase().includes(text);
    const change = this.comparedWith != null && moveOf(box.node, this.whole);
    const marks = [change, isMatch && "match", index === this.at && "current"];
    return ["flame-part", ...marks].filter(Boolean).join(" ");
  }

  private showDetails(box: Box | undefined): void {
    if (!box) return;
    const { node } = box;
    const share = percent((100 * node.weight) / (this.whole.weight || 1));
    const words = [node.name, this.show(node.weight), share];
    const change = difference(node, this.whole);
    if (node.was != null && change != null && this.comparedWith != null) {
      const values = { share: percent(100 * node.was), points: points(100 * change) };
      words.push(translate("flame.was", { name: this.comparedWith, ...values }));
    }
    const text = this.search.value;
    if (text)
      words.push(
        translate("flame.found", { text, share: percent(100 * matchedShare(this.whole, text)) }),
      );
    this.status.textContent = words.join(" · ");
  }

  private move(event: KeyboardEvent): void {
    const current = this.visible[this.at];
    if (!current) return;
    if (event.key === "Enter") this.zoom(current.node);
    else if (event.key === "Escape") this.zoom(this.whole);
    else {
      const next = neighbour(this.visible, this.at, event.key);
      if (next < 0) return;
      this.at = next;
      this.draw();
    }
    event.preventDefault();
  }
}

/** Return the index that an arrow key leads to: of the caller, a callee or the next box. */
export function neighbour(visible: readonly Box[], at: number, key: string): number {
  const current = visible[at];
  if (!current) return -1;
  const isNeighbour = {
    ArrowUp: (box: Box) => box.node === current.path.at(-1),
    ArrowDown: (box: Box) => box.path.at(-1) === current.node,
    ArrowRight: (box: Box) => box.depth === current.depth && box.from > current.from,
  }[key];
  if (isNeighbour) return visible.findIndex(isNeighbour);
  if (key !== "ArrowLeft") return -1;
  const before = (box: Box) => box.depth === current.depth && box.from < current.from;
  return visible.flatMap((box, index) => (before(box) ? [index] : [])).at(-1) ?? -1;
}

/** Return the legend of colours and signs. */
function legend(comparedWith: string): HTMLElement {
  return legendList(
    MOVES.map((change) => {
      const box = svg("rect", { width: 14, height: 12, class: `flame-part ${change}` });
      const words = translate(`flame.moved.${change}`, { name: comparedWith });
      return [
        svg("svg", { width: 14, height: 12, "aria-hidden": "true" }, box),
        `${SIGNS[change]}${words}`,
      ];
    }),
  );
}

function label(box: Box, whole: FlameNode): HTMLElement {
  const element = el("span", {}, `${SIGNS[moveOf(box.node, whole)]}${box.node.name}`);
  element.style.left = `${box.from * 100}%`;
  element.style.width = `${box.width * 100}%`;
  element.style.top = `${box.depth * ROW}px`;
  return element;
}
