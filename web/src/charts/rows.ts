// Rows over a common axis: positions, ticks, a dot per round, and the marker of an estimate.
// Verdicts differ in the shape of their marker as well as in its colour.

import { el, svg } from "../dom";
import type { Round } from "../model";
import { chartHead } from "../picture/save";

export const ROW = 28;
const AXIS_HEIGHT = 26;
const GOLDEN_RATIO = 0.618;
const TICK_WIDTH = 46;
const LETTER_WIDTH = 7.2;

/** The part of the width that the axis takes. */
export interface Extent {
  left: number;
  width: number;
}

/** Positions at the ends of an axis. */
export type Limits = readonly [number, number];

/** The marker of a verdict: its path and its CSS class. */
export interface MarkerShape {
  path: string;
  kind: string;
}

export const UP: MarkerShape = { path: "M0 -6 L6 5 L-6 5 Z", kind: "better" };
export const DOWN: MarkerShape = { path: "M0 6 L6 -5 L-6 -5 Z", kind: "worse" };
export const SQUARE: MarkerShape = { path: "M-5 -5 H5 V5 H-5 Z", kind: "same" };
export const CIRCLE: MarkerShape = { path: "M-5 0 A5 5 0 1 0 5 0 A5 5 0 1 0 -5 0 Z", kind: "open" };
export const CROSS: MarkerShape = { path: "M-5 -5 L5 5 M-5 5 L5 -5", kind: "none" };

/** Return where a position is on an axis, in pixels. */
export function xOf(at: number, [low, high]: Limits, extent: Extent): number {
  return extent.left + (extent.width * (at - low)) / (high - low || 1);
}

/** Return the ticks that have room beside each other; earlier ones have priority. */
export function fittingTicks<Mark extends { at: number }>(marks: readonly Mark[]): Mark[] {
  const fitting: Mark[] = [];
  for (const mark of marks) {
    if (fitting.every((other) => Math.abs(other.at - mark.at) > TICK_WIDTH)) fitting.push(mark);
  }
  return fitting;
}

/** Return the axis at height `y`, with its ticks. */
export function axis(
  marks: readonly (readonly [number, string])[],
  limits: Limits,
  extent: Extent,
  y: number,
): SVGElement[] {
  const fitting = fittingTicks(
    marks.map(([at, words]) => ({ at: xOf(at, limits, extent), words })),
  );
  const ends = { x1: extent.left, x2: extent.left + extent.width };
  return [
    svg("line", { ...ends, y1: y, y2: y, class: "axis-line" }),
    ...fitting.map((mark) => svg("text", { x: mark.at, y: y + 16, class: "tick" }, mark.words)),
  ];
}

/** Return a dot per round of a row around `y`, or an arrow for a value beyond the axis. */
export function dots(
  name: (round: Round) => string,
  rounds: readonly Round[],
  y: number,
  x: (at: number) => number,
): SVGElement[] {
  return rounds.map((round) => {
    const cy = y + ROW * 0.5 * (((round.round * GOLDEN_RATIO) % 1) - 0.5);
    const cx = x(round.at);
    const tip = svg("title", {}, name(round));
    if (!round.beyond) return svg("circle", { cx, cy, r: 3, class: "dot" }, tip);
    const d = `M${cx + 5 * round.beyond} ${cy} l${-7 * round.beyond} -4 v8 Z`;
    return svg("path", { d, class: "dot" }, tip);
  });
}

/** Return the line of an estimate's interval. */
export function intervalLine(ends: readonly [number, number], y: number): SVGElement {
  return svg("line", { x1: ends[0], x2: ends[1], y1: y, y2: y, class: "interval" });
}

/** Return the marker of an estimate, with a tooltip. */
export function marker(shape: MarkerShape, x: number, y: number, words: string): SVGElement {
  const transform = `translate(${x} ${y})`;
  const tip = svg("title", {}, words);
  return svg("path", { d: shape.path, transform, class: `marker ${shape.kind}` }, tip);
}

/** Return the width of the longest name. */
export function nameWidth(names: readonly string[]): number {
  return 24 + LETTER_WIDTH * Math.max(0, ...names.map((name) => name.length));
}

/** Return how many letters fit in a width. */
export function lettersIn(width: number): number {
  return Math.max(1, Math.floor(width / LETTER_WIDTH));
}

/** Return a symbol of the legend: a marker, or a dot. */
export function legendSign(shape: MarkerShape | null): SVGElement {
  const drawn = shape
    ? svg("path", { d: shape.path, class: `marker ${shape.kind}` })
    : svg("circle", { r: 3, class: "dot" });
  return svg(
    "svg",
    { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
    drawn,
  );
}

/** A chart of rows that is drawn again whenever its width changes. */
export abstract class RowChart {
  readonly element = el("div", { class: "chart" });
  protected readonly body = el("div", { class: "cells" });
  private readonly observer: ResizeObserver;
  private width = 0;

  constructor(title: string, legend: HTMLElement) {
    this.element.append(
      chartHead(() => this.element, title, legend),
      this.body,
    );
    this.observer = new ResizeObserver(() => {
      const width = this.body.clientWidth;
      if (width === this.width || !width) return;
      this.width = width;
      this.draw(width);
    });
    this.observer.observe(this.body);
  }

  /** Remove the chart from the page. */
  destroy(): void {
    this.observer.disconnect();
    this.element.remove();
  }

  /** Draw the body. */
  protected abstract draw(width: number): void;
}

/** Return rows and their axis as one SVG. */
export function picture(
  width: number,
  height: number,
  label: string,
  ...parts: SVGElement[]
): SVGElement {
  const size = { width, height: height + AXIS_HEIGHT };
  const viewBox = `0 0 ${width} ${size.height}`;
  const attributes = { ...size, viewBox, role: "img", "aria-label": label, tabindex: 0 };
  return svg("svg", attributes, ...parts);
}
