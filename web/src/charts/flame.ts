// A flame graph: a click on a box makes it as wide as the graph, a search lights what it finds, and
// arrow keys go from box to box. Of two profiles, colour and a sign before the name say what takes
// more and what takes less.

import {
  boxes,
  difference,
  height,
  matched,
  moveOf,
  type Box,
  type FlameNode,
  type Move,
} from "../data/flame";
import { button, el, svg } from "../dom";
import { percent, points } from "../format";
import { saver } from "../picture/save";
import { say } from "../words";

const ROW = 18;
const WIDTH = 1000;
const LEAST = 0.0008;
const LETTER = 6.6;
const SIGNS: Record<Move, string> = { more: "+ ", less: "− ", same: "" };
const MOVES: readonly Move[] = ["more", "less", "same"];

/** A flame graph that lives on the page until it is destroyed. */
export class Flame {
  readonly element: HTMLElement;
  private readonly box = el("div", { class: "flame-box" });
  private readonly said = el("p", { class: "flame-said", role: "status" });
  private readonly search: HTMLInputElement;
  private root: FlameNode;
  private at = 0;
  private shown: Box[] = [];

  constructor(
    private readonly whole: FlameNode,
    private readonly show: (weight: number) => string,
    title: string,
    private readonly beside: string | null = null,
  ) {
    this.root = whole;
    this.search = el("input", { type: "text", "aria-label": say("flame.search"), size: 16 });
    this.search.placeholder = say("flame.search");
    this.search.addEventListener("input", () => {
      this.draw();
    });
    const back = button(say("flame.whole"), () => {
      this.zoom(whole);
    });
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-label", `${title}. ${say("flame.keys")}`);
    this.box.addEventListener("keydown", (event) => {
      this.move(event);
    });
    this.element = el(
      "div",
      { class: "chart flame" },
      el(
        "div",
        { class: "chart-head" },
        el("h3", {}, title),
        this.search,
        back,
        saver(() => this.element, title),
      ),
      beside == null ? null : key(beside),
      this.box,
      this.said,
    );
    this.draw();
  }

  /** Take it off the page. */
  destroy(): void {
    this.element.remove();
  }

  private zoom(node: FlameNode): void {
    this.root = node;
    this.at = 0;
    this.draw();
  }

  private draw(): void {
    this.shown = boxes(this.root, LEAST);
    const rows = height(this.shown);
    const drawn = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${rows * ROW}`, width: "100%", preserveAspectRatio: "none" },
      ...this.shown.map((each, index) => this.drawBox(each, index)),
    );
    drawn.style.height = `${rows * ROW}px`;
    const words = this.shown
      .filter((each) => each.width * WIDTH > 4 * LETTER)
      .map((each) => name(each, this.whole));
    this.box.replaceChildren(
      drawn,
      el("div", { class: "flame-names", "aria-hidden": "true" }, ...words),
    );
    this.tell(this.shown[this.at]);
  }

  private drawBox(each: Box, index: number): SVGElement {
    const made = svg("rect", {
      x: each.from * WIDTH,
      y: each.depth * ROW,
      width: each.width * WIDTH,
      height: ROW - 1,
      class: this.look(each, index),
    });
    made.addEventListener("click", () => {
      this.zoom(each.node);
    });
    made.addEventListener("mousemove", () => {
      this.tell(each);
    });
    return made;
  }

  private look(each: Box, index: number): string {
    const text = this.search.value.toLowerCase();
    const isFound = text !== "" && each.node.name.toLowerCase().includes(text);
    const moved = this.beside != null && moveOf(each.node, this.whole);
    const marks = [moved, isFound && "found", index === this.at && "here"];
    return ["flame-part", ...marks].filter(Boolean).join(" ");
  }

  private tell(each: Box | undefined): void {
    if (!each) return;
    const { node } = each;
    const share = percent((100 * node.weight) / (this.whole.weight || 1));
    const words = [node.name, this.show(node.weight), share];
    const moved = difference(node, this.whole);
    if (node.was != null && moved != null && this.beside != null) {
      const values = { share: percent(100 * node.was), points: points(100 * moved) };
      words.push(say("flame.was", { name: this.beside, ...values }));
    }
    const text = this.search.value;
    if (text)
      words.push(say("flame.found", { text, share: percent(100 * matched(this.whole, text)) }));
    this.said.textContent = words.join(" · ");
  }

  private move(event: KeyboardEvent): void {
    const here = this.shown[this.at];
    if (!here) return;
    if (event.key === "Enter") this.zoom(here.node);
    else if (event.key === "Escape") this.zoom(this.whole);
    else {
      const next = neighbour(this.shown, this.at, event.key);
      if (next < 0) return;
      this.at = next;
      this.draw();
    }
    event.preventDefault();
  }
}

/** Where an arrow key leads: up to the caller, down to what is called, aside to the next box. */
export function neighbour(shown: readonly Box[], at: number, key: string): number {
  const here = shown[at];
  if (!here) return -1;
  const test = {
    ArrowUp: (box: Box) => box.node === here.path.at(-1),
    ArrowDown: (box: Box) => box.path.at(-1) === here.node,
    ArrowRight: (box: Box) => box.depth === here.depth && box.from > here.from,
  }[key];
  if (test) return shown.findIndex(test);
  if (key !== "ArrowLeft") return -1;
  const before = (box: Box) => box.depth === here.depth && box.from < here.from;
  return shown.flatMap((box, index) => (before(box) ? [index] : [])).at(-1) ?? -1;
}

/** What colours and signs mean. */
function key(beside: string): HTMLElement {
  const each = MOVES.map((moved) => {
    const box = svg("rect", { width: 14, height: 12, class: `flame-part ${moved}` });
    const drawn = svg("svg", { width: 14, height: 12, "aria-hidden": "true" }, box);
    return el("li", {}, drawn, `${SIGNS[moved]}${say(`flame.moved.${moved}`, { name: beside })}`);
  });
  return el("ul", { class: "legend" }, ...each);
}

function name(each: Box, whole: FlameNode): HTMLElement {
  const made = el("span", {}, `${SIGNS[moveOf(each.node, whole)]}${each.node.name}`);
  made.style.left = `${each.from * 100}%`;
  made.style.width = `${each.width * 100}%`;
  made.style.top = `${each.depth * ROW}px`;
  return made;
}
