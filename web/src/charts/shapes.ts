// Shapes on the canvas of a chart: markers, whiskers, limits, findings and hatched regions. All
// sizes are CSS pixels; `ratio` converts them to pixels of the canvas.

import type uPlot from "uplot";

import type { Slo } from "../model";
import { colour, type Colour } from "./palette";

export type Shape = (u: uPlot) => void;
export type Marker = "circle" | "square" | "triangle" | "dot";

const FONT = "system-ui, 'Noto Sans', sans-serif";
const ROW = 16;

const ratio = (): number => devicePixelRatio;

/** Draw shapes, each with its own state of the canvas. */
export function paint(u: uPlot, shapes: readonly Shape[] = []): void {
  for (const shape of shapes) {
    u.ctx.save();
    shape(u);
    u.ctx.restore();
  }
}

/** Draw a marker at a position in canvas pixels. */
export function drawMarker(
  u: uPlot,
  x: number,
  y: number,
  marker: Marker,
  paint: { fill: string; stroke: string },
): void {
  const { ctx } = u;
  const half = (marker === "dot" ? 2 : 4) * ratio();
  ctx.beginPath();
  if (marker === "square") ctx.rect(x - half * 0.9, y - half * 0.9, half * 1.8, half * 1.8);
  else if (marker === "triangle") {
    ctx.moveTo(x, y - half * 1.2);
    ctx.lineTo(x + half * 1.1, y + half * 0.8);
    ctx.lineTo(x - half * 1.1, y + half * 0.8);
    ctx.closePath();
  } else ctx.arc(x, y, half, 0, 2 * Math.PI);
  ctx.fillStyle = paint.fill;
  ctx.fill();
  ctx.lineWidth = 1.5 * ratio();
  ctx.strokeStyle = paint.stroke;
  ctx.setLineDash([]);
  ctx.stroke();
}

/** Return thin bars from the lowest to the highest value of each point. */
export function whiskers(
  xs: readonly number[],
  ranges: readonly ([number, number] | null)[],
): Shape {
  return (u) => {
    clipped(u, () => {
      u.ctx.strokeStyle = colour("grey");
      u.ctx.lineWidth = 1.5 * ratio();
      xs.forEach((x, at) => {
        const range = ranges[at];
        if (!range) return;
        const px = u.valToPos(x, "x", true);
        line(u, px, yOf(u, range[0]), px, yOf(u, range[1]));
      });
    });
  };
}

/** Return a limit across the chart, with its name above the line. */
function limit(value: number, words: string): Shape {
  return (u) => {
    const y = yOf(u, value);
    clipped(u, () => {
      dashed(u, "purple", [7, 4]);
      line(u, u.bbox.left, y, u.bbox.left + u.bbox.width, y);
    });
    const hasRoomAbove = y - u.bbox.top > 18 * ratio();
    write(u, words, u.bbox.left + 6 * ratio(), y + (hasRoomAbove ? -8 : 10) * ratio(), "purple");
  };
}

/** Return the limits of SLOs. */
export function limits(slos: readonly Slo[]): Shape[] {
  return slos.map((slo) => limit(slo.limit, `SLO ${slo.text}`));
}

export interface Flag {
  x: number;
  words: string;
  colour: Colour;
  dash: number[];
}

/** Return labelled vertical lines, with the labels at the top, where they hide no point. */
export function flags(findings: readonly Flag[]): Shape {
  return (u) => {
    const ends: number[] = [];
    const { left, top, width, height } = u.bbox;
    for (const flag of findings) {
      const x = u.valToPos(flag.x, "x", true);
      const size = measure(u, flag.words);
      const gap = 5 * ratio();
      const start = Math.max(left, x + gap + size <= left + width ? x + gap : x - gap - size);
      const row = freeRow(ends, start, start + size + gap);
      const y = top + (row + 0.5) * ROW * ratio();
      dashed(u, flag.colour, flag.dash);
      line(u, x, y - 6 * ratio(), x, top + height);
      write(u, flag.words, start, y, flag.colour);
    }
  };
}

/** Return how much higher the axis must be to leave room for the labels of `count` flags. */
export function headroom(count: number, height: number): number {
  return 1 / (1 - Math.min(0.5, (count * ROW + 8) / height));
}

/** Return hatched regions of the x axis, for levels that support no claim. */
export function hatched(regions: readonly { from: number; to: number; words: string }[]): Shape {
  return (u) => {
    for (const { from, to, words } of regions) {
      const { top, height } = u.bbox;
      const [a, b] = [clampX(u, from), clampX(u, to)];
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(a, top, b - a, height);
      u.ctx.clip();
      u.ctx.strokeStyle = colour("grey", 0.55);
      u.ctx.lineWidth = ratio();
      for (let x = a - height; x < b; x += 8 * ratio()) line(u, x, top + height, x + height, top);
      u.ctx.restore();
      label(u, words, a, b);
    }
  };
}

/** Return a curve of a function of x, such as a fitted model. */
export function curve(model: (x: number) => number, name: Colour, dash: number[]): Shape {
  return (u) => {
    clipped(u, () => {
      dashed(u, name, dash);
      u.ctx.beginPath();
      for (let px = 0; px <= u.bbox.width; px += 2 * ratio()) {
        const x = u.posToVal(u.bbox.left + px, "x", true);
        u.ctx.lineTo(u.bbox.left + px, yOf(u, model(x)));
      }
      u.ctx.stroke();
    });
  };
}

/** Return shaded spans of time with labels at the top. */
export function shaded(spans: readonly { from: number; to: number; words: string }[]): Shape {
  return (u) => {
    for (const { from, to, words } of spans) {
      const [a, b] = [clampX(u, from), clampX(u, to)];
      u.ctx.fillStyle = colour("grid", 0.5);
      u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
      label(u, words, a, b);
    }
  };
}

/** Return thin lines at the borders of levels, with labels where there is room. */
export function borders(levels: readonly { from: number; to: number; words: string }[]): Shape {
  return (u) => {
    for (const { from, to, words } of levels) {
      const [a, b] = [clampX(u, from), clampX(u, to)];
      dashed(u, "grid", []);
      line(u, a, u.bbox.top, a, u.bbox.top + u.bbox.height);
      const size = measure(u, words);
      if (size + 4 * ratio() < b - a)
        write(u, words, (a + b - size) / 2, u.bbox.top + 9 * ratio(), "muted");
    }
  };
}

/** Return a line at the value of no difference, and the band of values that count as the same. */
export function sameBand(low: number, high: number, reference = 1): Shape {
  return (u) => {
    const [a, b] = [yOf(u, high), yOf(u, low)];
    u.ctx.fillStyle = colour("band", 0.45);
    u.ctx.fillRect(u.bbox.left, a, u.bbox.width, b - a);
    dashed(u, "muted", []);
    const middle = yOf(u, reference);
    line(u, u.bbox.left, middle, u.bbox.left + u.bbox.width, middle);
  };
}

function freeRow(ends: number[], start: number, end: number): number {
  const row = ends.findIndex((usedUntil) => usedUntil < start);
  const at = row < 0 ? ends.length : row;
  ends[at] = end;
  return at;
}

function clipped(u: uPlot, draw: () => void): void {
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  u.ctx.clip();
  u.ctx.setLineDash([]);
  draw();
  u.ctx.restore();
}

function dashed(u: uPlot, name: Colour, dash: number[]): void {
  u.ctx.strokeStyle = colour(name);
  u.ctx.lineWidth = 1.4 * ratio();
  u.ctx.setLineDash(dash.map((part) => part * ratio()));
}

function line(u: uPlot, x0: number, y0: number, x1: number, y1: number): void {
  u.ctx.beginPath();
  u.ctx.moveTo(x0, y0);
  u.ctx.lineTo(x1, y1);
  u.ctx.stroke();
}

function yOf(u: uPlot, value: number): number {
  return u.valToPos(value, "y", true);
}

function clampX(u: uPlot, value: number): number {
  const x = u.valToPos(value, "x", true);
  return Math.min(Math.max(x, u.bbox.left), u.bbox.left + u.bbox.width);
}

function font(): string {
  return `600 ${11 * ratio()}px ${FONT}`;
}

/** Write a label at the top of a region if there is room. */
function label(u: uPlot, words: string, from: number, to: number): void {
  if (measure(u, words) < to - from)
    write(u, words, from + 3 * ratio(), u.bbox.top + 9 * ratio(), "muted");
}

function measure(u: uPlot, words: string): number {
  u.ctx.font = font();
  return u.ctx.measureText(words).width;
}

function write(u: uPlot, words: string, x: number, y: number, name: Colour): void {
  const { ctx } = u;
  ctx.font = font();
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const size = ctx.measureText(words).width;
  ctx.fillStyle = colour("background", 0.8);
  ctx.fillRect(x - 2, y - 7 * ratio(), size + 4, 14 * ratio());
  ctx.fillStyle = colour(name);
  ctx.fillText(words, x, y);
}
