// The chart of a comparison: a row per candidate with a dot per round, its interval and the margin.

import { el, svg } from "../dom";
import type { Comparison, Entry, Cell, Round } from "../model";
import { localized, translate, type Key } from "../translate";
import { legendList } from "./legend";
import {
  axis,
  CIRCLE,
  CROSS,
  DOWN,
  dots,
  lettersIn,
  marker,
  xOf,
  ROW,
  legendSign,
  intervalLine,
  SQUARE,
  UP,
  nameWidth,
  picture,
  RowChart,
  type Extent,
  type MarkerShape,
} from "./rows";

const GAP = 32;
const VERDICTS = ["better", "worse", "same", "inconclusive", "no verdict"] as const;
const SHAPES: Record<string, MarkerShape> = {
  better: UP,
  worse: DOWN,
  same: SQUARE,
  inconclusive: CIRCLE,
  "no verdict": CROSS,
};

/** Draws the chart, again whenever its width changes. */
export class ComparisonChart extends RowChart {
  private cellWidth = 0;

  constructor(private readonly comparison: Comparison) {
    super(title(comparison), legend(comparison));
  }

  protected draw(width: number): void {
    const isWide = width > 860 && this.comparison.places.length > 1;
    this.body.classList.toggle("two-columns", isWide);
    this.cellWidth = isWide ? (width - GAP) / 2 : width;
    this.body.replaceChildren(...this.comparison.places.map((cell) => this.cell(cell)));
  }

  private cell(cell: Cell): HTMLElement {
    const width = this.cellWidth;
    const names = Math.min(
      width * 0.36,
      nameWidth(cell.entries.map((entry) => localized(entry.name))),
    );
    const right = 74;
    const extent = { left: names, width: width - names - right - 8 };
    const height = cell.entries.length * ROW;
    const label = `${localized(cell.words)}: ${cell.entries.map(describe).join("; ")}`;
    const drawn = picture(
      width,
      height,
      label,
      ...this.background(extent, height),
      ...cell.entries.map((entry, at) => this.row(entry, at, extent)),
    );
    return el("div", {}, el("h4", {}, localized(cell.words)), drawn);
  }

  /** Return the margin, the line at no difference, and the axis. */
  private background(extent: Extent, height: number): SVGElement[] {
    const [low, high] = this.comparison.margin.map((at) => this.x(at, extent)) as [number, number];
    const none = this.x(0, extent);
    return [
      svg("rect", { x: low, y: 0, width: Math.max(1, high - low), height, class: "margin" }),
      svg("line", { x1: none, x2: none, y1: 0, y2: height, class: "reference-line" }),
      ...axis(this.comparison.marks, this.comparison.limits, extent, height),
    ];
  }

  private row(entry: Entry, at: number, extent: Extent): SVGElement {
    const y = (at + 0.5) * ROW;
    const maxLetters = lettersIn(extent.left - 10);
    const whole = localized(entry.name);
    const name =
      whole.length > maxLetters ? `${whole.slice(0, Math.max(1, maxLetters - 1))}…` : whole;
    const end = extent.left + extent.width + 8;
    const word = wordClass(entry);
    return svg(
      "g",
      { class: `row ${word}` },
      svg("text", { x: 0, y: y + 4, class: "name" }, name, svg("title", {}, whole)),
      ...this.dots(entry, y, extent),
      ...this.estimate(entry, y, extent),
      note(entry) && svg("text", { x: extent.left + 6, y: y + 4, class: "row-note" }, note(entry)),
      svg("text", { x: end, y: y + 4, class: "amount" }, amount(entry)),
    );
  }

  private dots(entry: Entry, y: number, extent: Extent): SVGElement[] {
    const name = ({ round, text }: Round) =>
      `${localized(entry.name)}, ${translate("compare.round", { n: round })}: ${localized(text)}`;
    return dots(name, entry.rounds, y, (at) => this.x(at, extent));
  }

  private estimate(entry: Entry, y: number, extent: Extent): SVGElement[] {
    const elements: SVGElement[] = [];
    if (entry.interval) {
      const [x1, x2] = entry.interval.map((at) => this.x(at, extent)) as [number, number];
      elements.push(intervalLine([x1, x2], y));
    }
    const shape = SHAPES[entry.standing];
    if (!shape || !entry.rounds.length) return elements;
    // A candidate without a ratio has its marker outside of the axis, on which it would be a value.
    const outside = extent.left + extent.width + 16;
    const x = entry.centre == null ? outside : this.x(entry.centre, extent);
    elements.push(marker(shape, x, y, describe(entry)));
    return elements;
  }

  private x(at: number, extent: Extent): number {
    return xOf(at, this.comparison.limits, extent);
  }
}

function title(comparison: Comparison): string {
  const values = {
    metric: localized(comparison.metric),
    baseline: localized(comparison.baseline),
  };
  return translate(comparison.is_share ? "compare.points" : "compare.ratio", values);
}

/** Return the legend; of rates and times "better" reads "faster", as in the tables. */
function legend(comparison: Comparison): HTMLElement {
  const speed: Record<string, string> = { better: "faster", worse: "slower" };
  const word = (verdict: string) => (comparison.is_speed && speed[verdict]) || verdict;
  return legendList([
    [legendSign(null), translate("compare.one")],
    ...VERDICTS.map((verdict): [SVGElement, string] => [
      legendSign(SHAPES[verdict] ?? null),
      translate(`compare.word.${word(verdict)}` as Key),
    ]),
    [null, translate("compare.band")],
  ]);
}

function wordClass(entry: Entry): string {
  return `is-${SHAPES[entry.standing]?.kind ?? "none"}`;
}

function note(entry: Entry): string {
  if (entry.standing === "failed")
    return translate("compare.failed", { kind: localized(entry.failure ?? "") });
  return entry.rounds.length ? "" : localized(entry.word);
}

function amount(entry: Entry): string {
  if (entry.is_baseline) return entry.rounds.length ? translate("compare.baseline") : "";
  return entry.amount;
}

function describe(entry: Entry): string {
  const name = localized(entry.name);
  if (entry.is_baseline) return `${name}: ${translate("compare.baseline")}`;
  return `${name}: ${localized(entry.word)}, ${localized(entry.ratio)} (${localized(entry.interval_text)}), n = ${entry.n}`;
}
