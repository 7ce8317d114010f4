// A comparison as a picture: candidates as rows, every round a dot, interval and margin drawn.
//
// Words differ by the shape of their marker before they differ by colour.

import { el, svg } from "../dom";
import type { Comparison, Entry, Place } from "../model";
import { pick, say, type Key } from "../words";

const ROW = 28;
const AXIS = 26;
const GAP = 32;
const GOLDEN = 0.618;
const KEPT = ["better", "worse", "same", "inconclusive", "no verdict"] as const;
const SHAPES: Record<string, { path: string; kind: string }> = {
  better: { path: "M0 -6 L6 5 L-6 5 Z", kind: "better" },
  worse: { path: "M0 6 L6 -5 L-6 -5 Z", kind: "worse" },
  same: { path: "M-5 -5 H5 V5 H-5 Z", kind: "same" },
  inconclusive: { path: "M-5 0 A5 5 0 1 0 5 0 A5 5 0 1 0 -5 0 Z", kind: "open" },
  "no verdict": { path: "M-5 -5 L5 5 M-5 5 L5 -5", kind: "none" },
};

/** The picture, drawn again whenever its width changes. */
export class Rows {
  readonly element = el("div", { class: "chart comparison" });
  private readonly body = el("div", { class: "places" });
  private readonly watcher: ResizeObserver;
  private width = 0;
  private each = 0;

  constructor(private readonly found: Comparison) {
    this.element.append(
      el("div", { class: "chart-head" }, el("h3", {}, title(found)), key()),
      this.body,
    );
    this.watcher = new ResizeObserver(() => {
      this.resize();
    });
    this.watcher.observe(this.body);
  }

  /** Take the picture off the page. */
  destroy(): void {
    this.watcher.disconnect();
    this.element.remove();
  }

  private resize(): void {
    const width = this.body.clientWidth;
    if (width === this.width || !width) return;
    this.width = width;
    const isWide = width > 860 && this.found.places.length > 1;
    this.body.classList.toggle("two", isWide);
    this.each = isWide ? (width - GAP) / 2 : width;
    this.body.replaceChildren(...this.found.places.map((place) => this.place(place)));
  }

  private place(place: Place): HTMLElement {
    const width = this.each;
    const names = Math.min(
      width * 0.36,
      24 + 7.2 * Math.max(...place.entries.map((e) => e.name.length)),
    );
    const right = 74;
    const across = { left: names, width: width - names - right - 8 };
    const height = place.entries.length * ROW;
    const label = `${place.words}: ${place.entries.map(spoken).join("; ")}`;
    const drawn = svg(
      "svg",
      {
        width,
        height: height + AXIS,
        viewBox: `0 0 ${width} ${height + AXIS}`,
        role: "img",
        "aria-label": label,
        tabindex: 0,
      },
      ...this.ground(across, height),
      ...place.entries.map((entry, at) => this.row(entry, at, across)),
    );
    return el("div", { class: "place" }, el("h4", {}, place.words), drawn);
  }

  /** The band of what counts as the same, the line of no difference, and the axis. */
  private ground(across: Across, height: number): SVGElement[] {
    const [low, high] = this.found.margin.map((at) => this.x(at, across)) as [number, number];
    const none = this.x(0, across);
    const marks = this.found.marks.map(([at, words]) => ({
      at: this.x(at, across),
      words,
      order: at,
    }));
    const chosen = spaced(marks);
    return [
      svg("rect", { x: low, y: 0, width: Math.max(1, high - low), height, class: "margin" }),
      svg("line", { x1: none, x2: none, y1: 0, y2: height, class: "none-line" }),
      svg("line", {
        x1: across.left,
        x2: across.left + across.width,
        y1: height,
        y2: height,
        class: "axis-line",
      }),
      ...chosen.map((mark) =>
        svg("text", { x: mark.at, y: height + 16, class: "tick" }, mark.words),
      ),
    ];
  }

  private row(entry: Entry, at: number, across: Across): SVGElement {
    const y = (at + 0.5) * ROW;
    const most = Math.floor((across.left - 10) / 7.2);
    const name =
      entry.name.length > most ? `${entry.name.slice(0, Math.max(1, most - 1))}…` : entry.name;
    const end = across.left + across.width + 8;
    const word = wordClass(entry);
    return svg(
      "g",
      { class: `row ${word}` },
      svg("text", { x: 0, y: y + 4, class: "name" }, name, svg("title", {}, entry.name)),
      ...this.dots(entry, y, across),
      ...this.estimate(entry, y, across),
      said(entry) && svg("text", { x: across.left + 6, y: y + 4, class: "said" }, said(entry)),
      svg("text", { x: end, y: y + 4, class: "amount" }, amount(entry)),
    );
  }

  private dots(entry: Entry, y: number, across: Across): SVGElement[] {
    return entry.rounds.map((round) => {
      const cy = y + ROW * 0.5 * (((round.round * GOLDEN) % 1) - 0.5);
      const cx = this.x(round.at, across);
      const tip = svg(
        "title",
        {},
        `${entry.name}, ${say("compare.round", { n: round.round })}: ${round.text}`,
      );
      if (!round.beyond) return svg("circle", { cx, cy, r: 3, class: "dot" }, tip);
      const d = `M${cx + 5 * round.beyond} ${cy} l${-7 * round.beyond} -4 v8 Z`;
      return svg("path", { d, class: "dot" }, tip);
    });
  }

  private estimate(entry: Entry, y: number, across: Across): SVGElement[] {
    const made: SVGElement[] = [];
    if (entry.interval) {
      const [x1, x2] = entry.interval.map((at) => this.x(at, across)) as [number, number];
      made.push(svg("line", { x1, x2, y1: y, y2: y, class: "interval" }));
    }
    const shape = SHAPES[entry.standing];
    if (entry.centre == null || !shape) return made;
    const transform = `translate(${this.x(entry.centre, across)} ${y})`;
    const tip = svg("title", {}, spoken(entry));
    made.push(svg("path", { d: shape.path, transform, class: `mark ${shape.kind}` }, tip));
    return made;
  }

  private x(at: number, across: Across): number {
    const [low, high] = this.found.limits;
    return across.left + (across.width * (at - low)) / (high - low || 1);
  }
}

interface Across {
  left: number;
  width: number;
}

function spaced<Mark extends { at: number; words: string }>(marks: readonly Mark[]): Mark[] {
  const chosen: Mark[] = [];
  for (const mark of marks) {
    const isFree = chosen.every((other) => Math.abs(other.at - mark.at) > 46);
    if (isFree) chosen.push(mark);
  }
  return chosen;
}

function title(found: Comparison): string {
  const values = { metric: found.metric, baseline: found.baseline };
  return say(found.is_share ? "compare.points" : "compare.ratio", values);
}

function key(): HTMLElement {
  const dot = svg(
    "svg",
    { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
    svg("circle", { r: 3, class: "dot" }),
  );
  const words = KEPT.map((word) => {
    const shape = SHAPES[word];
    const path = shape && svg("path", { d: shape.path, class: `mark ${shape.kind}` });
    const drawn = svg(
      "svg",
      { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
      path ?? null,
    );
    return el("li", {}, drawn, say(`compare.word.${word}` as Key));
  });
  return el(
    "ul",
    { class: "legend" },
    el("li", {}, dot, say("compare.one")),
    ...words,
    el("li", {}, say("compare.band")),
  );
}

function wordClass(entry: Entry): string {
  return `is-${SHAPES[entry.standing]?.kind ?? "none"}`;
}

function said(entry: Entry): string {
  if (entry.standing === "failed") return say("compare.failed", { kind: entry.failure ?? "" });
  return entry.rounds.length ? "" : pick(entry.word);
}

function amount(entry: Entry): string {
  if (entry.is_baseline) return entry.rounds.length ? say("compare.baseline") : "";
  return entry.ratio === "–" ? "" : entry.ratio.replace(" points", "");
}

function spoken(entry: Entry): string {
  if (entry.is_baseline) return `${entry.name}: ${say("compare.baseline")}`;
  return `${entry.name}: ${pick(entry.word)}, ${entry.ratio} (${entry.interval_text}), n = ${entry.n}`;
}
