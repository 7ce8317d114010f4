// Functions under load as a picture: a row a budget, every round a dot, interval and limit drawn.
// Left of the limit a budget is met. Without budgets rows are functions by their operations/s.

import { el, svg } from "../dom";
import type { Functions, FunctionRow, Round } from "../model";
import { saver } from "../picture/save";
import { pick, say, type Key } from "../words";
import {
  axis,
  CIRCLE,
  DOWN,
  dots,
  letters,
  marker,
  ROW,
  sign,
  span,
  SQUARE,
  UP,
  wide,
  Widths,
  xOf,
  type Across,
  type Shape,
} from "./strip";

const AXIS = 26;
const WORDS = 20;
const AMOUNT = 82;
const NARROW = 640;
const NAME = 18;
const SHAPES: Record<FunctionRow["standing"], Shape> = {
  held: UP,
  broken: DOWN,
  "not shown": CIRCLE,
  "": SQUARE,
};
const OF_BUDGETS = ["held", "broken", "not shown"] as const;

/** The picture, drawn again whenever its width changes. */
export class Strip {
  readonly element = el("div", { class: "chart functions" });
  private readonly body = el("div", { class: "place" });
  private readonly widths: Widths;
  private width = 0;

  constructor(private readonly found: Functions) {
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
    if (found.left_out)
      this.element.append(
        el("p", { class: "left-out" }, say("functions.more", { n: found.left_out })),
      );
    this.widths = new Widths(this.body, (width) => {
      this.width = width;
      this.body.replaceChildren(this.draw());
    });
  }

  /** Take the picture off the page. */
  destroy(): void {
    this.widths.stop();
    this.element.remove();
  }

  private draw(): SVGElement {
    const { rows } = this.found;
    const laid = layout(this.width, rows.map(named));
    const height = laid.top + rows.length * laid.row;
    return svg(
      "svg",
      {
        width: this.width,
        height: height + AXIS,
        viewBox: `0 0 ${this.width} ${height + AXIS}`,
        role: "img",
        "aria-label": rows.map(spoken).join("; "),
        tabindex: 0,
      },
      ...this.ground(laid, height),
      ...rows.map((row, at) => this.row(row, at, laid)),
    );
  }

  /** The axis, and the line that budgets are met left of. */
  private ground({ across, top }: Layout, height: number): SVGElement[] {
    const drawn = axis(this.found.marks, this.found.limits, across, height);
    if (!this.found.is_of_budgets) return drawn;
    const x = xOf(0, this.found.limits, across);
    const y = top - 6;
    return [
      svg("line", { x1: x, x2: x, y1: top - 16, y2: height, class: "none-line" }),
      svg("text", { x: x - 6, y, class: "said end" }, say("functions.met")),
      svg("text", { x: x + 6, y, class: "said" }, say("functions.missed")),
      ...drawn,
    ];
  }

  private row(row: FunctionRow, at: number, laid: Layout): SVGElement {
    const { across } = laid;
    const below = laid.top + (at + 1) * laid.row;
    const y = below - ROW / 2;
    const shape = SHAPES[row.standing];
    const x = (position: number) => xOf(position, this.found.limits, across);
    const tip = ({ round, text }: Round) =>
      `${row.name}, ${say("compare.round", { n: round })}: ${text}`;
    const ends = row.interval?.map(x) as [number, number] | undefined;
    const nameY = laid.row === ROW ? y + 4 : below - ROW;
    const name = svg("text", { x: 0, y: nameY, class: "name" }, cut(named(row), laid.letters));
    name.append(svg("title", {}, named(row)));
    return svg(
      "g",
      { class: `row is-${shape.kind}` },
      name,
      ...dots(tip, row.rounds, y, x),
      ends && span(ends, y),
      row.centre == null
        ? svg("text", { x: across.left + 6, y: y + 4, class: "said" }, pick(row.word))
        : marker(shape, x(row.centre), y, spoken(row)),
      svg("text", { x: this.width, y: y + 4, class: "amount end" }, row.amount),
    );
  }
}

/** Where things stand in a width: names left of the axis, or above it where it is narrow. */
export interface Layout {
  across: Across;
  row: number;
  top: number;
  letters: number;
}

/** Lay rows of some names out in a width. */
export function layout(width: number, names: readonly string[]): Layout {
  const isNarrow = width < NARROW;
  const left = isNarrow ? 24 : Math.min(width * 0.45, wide(names));
  return {
    across: { left, width: width - left - AMOUNT },
    row: isNarrow ? ROW + NAME : ROW,
    top: WORDS,
    letters: letters(isNarrow ? width : left - 10),
  };
}

/** A name that fits: the end of a test's name tells more than its beginning. */
export function cut(name: string, most: number): string {
  return name.length > most ? `…${name.slice(name.length - Math.max(1, most - 1))}` : name;
}

function named(row: FunctionRow): string {
  return row.budget ? `${row.name}  ${row.budget}` : row.name;
}

function spoken(row: FunctionRow): string {
  const said = [row.amount, pick(row.word)].filter(Boolean).join(", ");
  return `${named(row)}: ${said}`;
}

function title(found: Functions): string {
  return say(found.is_of_budgets ? "functions.budgets" : "functions.rates");
}

function key(found: Functions): HTMLElement {
  const words = found.is_of_budgets
    ? OF_BUDGETS.map((word) =>
        el("li", {}, sign(SHAPES[word]), say(`functions.word.${word}` as Key)),
      )
    : [el("li", {}, sign(SQUARE), say("functions.median"))];
  return el("ul", { class: "legend" }, el("li", {}, sign(null), say("compare.one")), ...words);
}
