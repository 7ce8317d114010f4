// The chart of a tuning's search: the first number of each setting as a dot, in rows by the last
// level of halving and by the values of each parameter. Finalists are highlighted.

import { el, svg } from "../dom";
import type { Search } from "../model";
import { localized, translate } from "../translate";
import { legendList } from "./legend";
import {
  axis,
  legendSign,
  lettersIn,
  marker,
  nameWidth,
  picture,
  ROW,
  RowChart,
  SQUARE,
  UP,
  xOf,
  type Extent,
} from "./rows";

const GAP = 32;
const WIDE = 860;
const RIGHT = 24;
const GOLDEN_RATIO = 0.618;

type Group = Search["groups"][number];

/** Draws the chart, again whenever its width changes. */
export class SearchChart extends RowChart {
  constructor(private readonly search: Search) {
    super(translate("search.title", { metric: localized(search.metric) }), legend());
  }

  protected draw(width: number): void {
    const isWide = width > WIDE;
    this.body.classList.toggle("two-columns", isWide);
    const own = isWide ? (width - GAP) / 2 : width;
    const names = this.search.groups.flatMap((group) =>
      group.rows.map((row) => localized(row.name)),
    );
    const left = Math.min(own * 0.36, nameWidth(names));
    const extent = { left, width: own - left - RIGHT };
    this.body.replaceChildren(...this.search.groups.map((group) => this.group(group, own, extent)));
  }

  private group(group: Group, width: number, extent: Extent): HTMLElement {
    const names = group.rows.map((row) => localized(row.name));
    const height = group.rows.length * ROW;
    const label = `${localized(group.words)}: ${names.join(", ")}`;
    const drawn = picture(
      width,
      height,
      label,
      ...axis(this.search.marks, this.search.limits, extent, height),
      ...group.rows.map((row, at) => this.row(localized(row.name), row.dots, at, extent)),
    );
    return el("div", {}, el("h4", {}, localized(group.words)), drawn);
  }

  private row(name: string, dots: readonly number[], at: number, extent: Extent): SVGElement {
    const y = (at + 0.5) * ROW;
    const letters = lettersIn(extent.left - 10);
    const shown = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
    const label = svg("text", { x: 0, y: y + 4, class: "name" }, shown, svg("title", {}, name));
    return svg("g", { class: "row" }, label, ...dots.map((dot) => this.dot(dot, y, extent)));
  }

  private dot(index: number, y: number, extent: Extent): SVGElement {
    const dot = this.search.dots[index];
    if (!dot) return svg("g", {});
    const x = xOf(dot.at, this.search.limits, extent);
    if (dot.is_recommended) return marker(UP, x, y, localized(dot.text));
    if (dot.is_finalist) return marker(SQUARE, x, y, localized(dot.text));
    const cy = y + ROW * 0.5 * (((index * GOLDEN_RATIO) % 1) - 0.5);
    return svg("circle", { cx: x, cy, r: 3, class: "dot" }, svg("title", {}, localized(dot.text)));
  }
}

function legend(): HTMLElement {
  return legendList([
    [legendSign(null), translate("search.setting")],
    [legendSign(SQUARE), translate("search.finalist")],
    [legendSign(UP), translate("search.recommended")],
  ]);
}
