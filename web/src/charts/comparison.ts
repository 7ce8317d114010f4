// A comparison as a picture: candidates as rows, every round a dot, interval and margin drawn.

import { el, svg } from "../dom";
import type { Comparison, Entry, Place, Round } from "../model";
import { saver } from "../picture/save";
import { pick, say, type Key } from "../words";
import {
  axis,
  CIRCLE,
  CROSS,
  DOWN,
  dots,
  letters,
  marker,
  xOf,
  ROW,
  sign,
  span,
  SQUARE,
  UP,
  wide,
  Widths,
  type Across,
  type Shape,
} from "./strip";

const AXIS = 26;
const GAP = 32;
const KEPT = ["better", "worse", "same", "inconclusive", "no verdict"] as const;
const SHAPES: Record<string, Shape> = {
  better: UP,
  worse: DOWN,
  same: SQUARE,
  inconclusive: CIRCLE,
  "no verdict": CROSS,
};

/** The picture, drawn again whenever its width changes. */
export class Rows {
  readonly element = el("div", { class: "chart comparison" });
  private readonly body = el("div", { class: "places" });
  private readonly widths: Widths;
  private each = 0;

  constructor(private readonly found: Comparison) {
    this.element.append(
      el(
        "div",
        { class: "chart-head" },
        el("h3", {}, title(found)),
        key(found),
        saver(() => this.element, title(found)),
      ),
      this.body,
    );
    this.widths = new Widths(this.body, (width) => {
      this.draw(width);
    });
  }

  /** Take the picture off the page. */
  destroy(): void {
    this.widths.stop();
    this.element.remove();
  }

  private draw(width: number): void {
    const isWide = width > 860 && this.found.places.length > 1;
    this.body.classList.toggle("two", isWide);
    this.each = isWide ? (width - GAP) / 2 : width;
    this.body.replaceChildren(...this.found.places.map((place) => this.place(place)));
  }

  private place(place: Place): HTMLElement {
    const width = this.each;
    const names = Math.min(width * 0.36, wide(place.entries.map((entry) => entry.name)));
    const right = 74;
    const across = { left: names, width: width - names - right - 8 };
    const height = place.entries.length * ROW;
    const label = `${pick(place.words)}: ${place.entries.map(spoken).join("; ")}`;
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
    return el("div", { class: "place" }, el("h4", {}, pick(place.words)), drawn);
  }

  /** The band of what counts as the same, the line of no difference, and the axis. */
  private ground(across: Across, height: number): SVGElement[] {
    const [low, high] = this.found.margin.map((at) => this.x(at, across)) as [number, number];
    const none = this.x(0, across);
    return [
      svg("rect", { x: low, y: 0, width: Math.max(1, high - low), height, class: "margin" }),
      svg("line", { x1: none, x2: none, y1: 0, y2: height, class: "none-line" }),
      ...axis(this.found.marks, this.found.limits, across, height),
    ];
  }

  private row(entry: Entry, at: number, across: Across): SVGElement {
    const y = (at + 0.5) * ROW;
    const most = letters(across.left - 10);
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
    const name = ({ round, text }: Round) =>
      `${entry.name}, ${say("compare.round", { n: round })}: ${text}`;
    return dots(name, entry.rounds, y, (at) => this.x(at, across));
  }

  private estimate(entry: Entry, y: number, across: Across): SVGElement[] {
    const made: SVGElement[] = [];
    if (entry.interval) {
      const [x1, x2] = entry.interval.map((at) => this.x(at, across)) as [number, number];
      made.push(span([x1, x2], y));
    }
    const shape = SHAPES[entry.standing];
    if (!shape || !entry.rounds.length) return made;
    // Without a ratio the marker stands in their column: on the axis it would be one.
    const beside = across.left + across.width + 16;
    const x = entry.centre == null ? beside : this.x(entry.centre, across);
    made.push(marker(shape, x, y, spoken(entry)));
    return made;
  }

  private x(at: number, across: Across): number {
    return xOf(at, this.found.limits, across);
  }
}

function title(found: Comparison): string {
  const values = { metric: pick(found.metric), baseline: found.baseline };
  return say(found.is_share ? "compare.points" : "compare.ratio", values);
}

/** The words as the tables have them: of rates and times better is faster. */
function key(found: Comparison): HTMLElement {
  const printed: Record<string, string> = found.is_speed
    ? { better: "faster", worse: "slower" }
    : {};
  const words = KEPT.map((word) =>
    el("li", {}, sign(SHAPES[word] ?? null), say(`compare.word.${printed[word] ?? word}` as Key)),
  );
  return el(
    "ul",
    { class: "legend" },
    el("li", {}, sign(null), say("compare.one")),
    ...words,
    el("li", {}, say("compare.band")),
  );
}

function wordClass(entry: Entry): string {
  return `is-${SHAPES[entry.standing]?.kind ?? "none"}`;
}

function said(entry: Entry): string {
  if (entry.standing === "failed")
    return say("compare.failed", { kind: pick(entry.failure ?? "") });
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
