// The chart of functions: a row per budget with a dot per round, the interval and the limit. A
// budget is met left of the limit. Without budgets the rows are functions by operations per second.

import { el, svg } from "../dom";
import type { Functions, FunctionRow, Round } from "../model";
import { localized, translate, type Key } from "../translate";
import { legendList } from "./legend";
import {
  axis,
  CIRCLE,
  DOWN,
  dots,
  lettersIn,
  marker,
  ROW,
  legendSign,
  intervalLine,
  SQUARE,
  UP,
  nameWidth,
  picture,
  RowChart,
  xOf,
  type Extent,
  type MarkerShape,
} from "./rows";

const TOP_LABELS = 20;
const AMOUNT_WIDTH = 82;
const NARROW_WIDTH = 640;
const NAME_HEIGHT = 18;
const SHAPES: Record<FunctionRow["standing"], MarkerShape> = {
  held: UP,
  broken: DOWN,
  "not shown": CIRCLE,
  "": SQUARE,
};
const OF_BUDGETS = ["held", "broken", "not shown"] as const;

/** Draws the chart, again whenever its width changes. */
export class FunctionsChart extends RowChart {
  constructor(private readonly functions: Functions) {
    super(title(functions), legend(functions));
    const n = functions.left_out;
    if (n) this.element.append(el("p", { class: "omitted" }, translate("functions.more", { n })));
  }

  protected draw(width: number): void {
    const { rows } = this.functions;
    const sizes = layout(width, rows.map(labelOf));
    const height = sizes.top + rows.length * sizes.row;
    this.body.replaceChildren(
      picture(
        width,
        height,
        rows.map(describe).join("; "),
        ...this.background(sizes, height),
        ...rows.map((row, at) => this.row(row, at, sizes)),
      ),
    );
  }

  /** Return the axis and the line of the limit, left of which budgets are met. */
  private background({ extent, top }: Layout, height: number): SVGElement[] {
    const drawn = axis(this.functions.marks, this.functions.limits, extent, height);
    if (!this.functions.is_of_budgets) return drawn;
    const x = xOf(0, this.functions.limits, extent);
    const y = top - 6;
    return [
      svg("line", { x1: x, x2: x, y1: top - 16, y2: height, class: "reference-line" }),
      svg("text", { x: x - 6, y, class: "row-note end" }, translate("functions.met")),
      svg("text", { x: x + 6, y, class: "row-note" }, translate("functions.missed")),
      ...drawn,
    ];
  }

  private row(row: FunctionRow, at: number, sizes: Layout): SVGElement {
    const { extent } = sizes;
    const bottom = sizes.top + (at + 1) * sizes.row;
    const y = bottom - ROW / 2;
    const shape = SHAPES[row.standing];
    const x = (position: number) => xOf(position, this.functions.limits, extent);
    const tip = ({ round, text }: Round) =>
      `${row.name}, ${translate("compare.round", { n: round })}: ${localized(text)}`;
    const ends = row.interval?.map(x) as [number, number] | undefined;
    const nameY = sizes.row === ROW ? y + 4 : bottom - ROW;
    const name = svg(
      "text",
      { x: 0, y: nameY, class: "name" },
      shortened(labelOf(row), sizes.letters),
    );
    name.append(svg("title", {}, labelOf(row)));
    return svg(
      "g",
      { class: `row is-${shape.kind}` },
      name,
      ...dots(tip, row.rounds, y, x),
      ends && intervalLine(ends, y),
      row.centre == null
        ? svg("text", { x: extent.left + 6, y: y + 4, class: "row-note" }, localized(row.word))
        : marker(shape, x(row.centre), y, describe(row)),
      svg("text", { x: sizes.width, y: y + 4, class: "amount end" }, row.amount),
    );
  }
}

/** Positions in a width: names are left of the axis, or above it in a narrow window. */
export interface Layout {
  width: number;
  extent: Extent;
  row: number;
  top: number;
  letters: number;
}

/** Return the positions of rows with these names. */
export function layout(width: number, names: readonly string[]): Layout {
  const isNarrow = width < NARROW_WIDTH;
  const left = isNarrow ? 24 : Math.min(width * 0.45, nameWidth(names));
  return {
    width,
    extent: { left, width: width - left - AMOUNT_WIDTH },
    row: isNarrow ? ROW + NAME_HEIGHT : ROW,
    top: TOP_LABELS,
    letters: lettersIn(isNarrow ? width : left - 10),
  };
}

/** Return a name that fits. Its beginning is cut off, since tests differ in their ends. */
export function shortened(name: string, maxLetters: number): string {
  return name.length > maxLetters
    ? `…${name.slice(name.length - Math.max(1, maxLetters - 1))}`
    : name;
}

function labelOf(row: FunctionRow): string {
  return row.budget ? `${row.name}  ${row.budget}` : row.name;
}

function describe(row: FunctionRow): string {
  const result = [row.amount, localized(row.word)].filter(Boolean).join(", ");
  return `${labelOf(row)}: ${result}`;
}

function title(functions: Functions): string {
  return translate(functions.is_of_budgets ? "functions.budgets" : "functions.rates");
}

function legend({ is_of_budgets }: Functions): HTMLElement {
  const signs: [SVGElement, string][] = is_of_budgets
    ? OF_BUDGETS.map((word) => [
        legendSign(SHAPES[word]),
        translate(`functions.word.${word}` as Key),
      ])
    : [[legendSign(SQUARE), translate("functions.median")]];
  return legendList([[legendSign(null), translate("compare.one")], ...signs]);
}
