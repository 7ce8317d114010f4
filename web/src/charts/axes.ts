// Axes of charts: labels where there is room for them, powers of ten on logarithmic axes.

import type uPlot from "uplot";

import { compact } from "../format";
import { colour } from "./palette";
import type { Spec } from "./plot";
import { logTicks } from "./range";

/** Return the x axis; it calls `spec` on each drawing, since values may have changed. */
export function axisX(spec: () => Spec): uPlot.Axis {
  const { ticks, label } = spec().x;
  const words = (value: number) => (spec().x.show ?? compact)(value);
  const axis: uPlot.Axis = {
    ...axisStyle(),
    size: 22,
    label,
    labelSize: 16,
    labelGap: 0,
    space: 55,
    grid: { show: false },
  };
  if (!ticks) return { ...axis, values: (_, splits) => splits.map((at) => tickLabel(at, words)) };
  return {
    ...axis,
    splits: () => spec().x.ticks ?? ticks,
    filter: (_, splits) => splits,
    values: (u, splits) =>
      fittingLabels(splits.map((at) => ({ at: u.valToPos(at, "x"), words: words(at) }))),
  };
}

/** Return the y axis. */
export function axisY(spec: () => Spec, isLog: boolean): uPlot.Axis {
  const words = (value: number) => (spec().y.show ?? compact)(value);
  return {
    ...axisStyle(),
    size: 56,
    space: 24,
    ...(isLog
      ? { splits: (_u, _axis, low, high) => logTicks(low, high), filter: (_u, at) => at }
      : {}),
    values: (_, splits) => splits.map((at) => tickLabel(at, words)),
  };
}

/** Return tick labels, empty for those without room; the first and the last have priority. */
export function fittingLabels(ticks: { at: number; words: string }[]): string[] {
  const halfWidth = (words: string) => 3.6 * words.length + 4;
  const visible: number[] = [];
  const order = [0, ticks.length - 1, ...ticks.keys()];
  for (const index of new Set(order)) {
    const tick = ticks[index];
    if (!tick) continue;
    const isFree = visible.every((other) => {
      const otherTick = ticks[other];
      return (
        !otherTick ||
        Math.abs(otherTick.at - tick.at) > halfWidth(otherTick.words) + halfWidth(tick.words)
      );
    });
    if (isFree) visible.push(index);
  }
  return ticks.map((tick, index) => (visible.includes(index) ? tick.words : ""));
}

/** Return a tick's label; uPlot passes null for ticks that a filter removed. */
function tickLabel(at: number | null, words: (value: number) => string): string {
  return at == null ? "" : words(at);
}

function axisStyle(): uPlot.Axis {
  return {
    stroke: () => colour("muted"),
    font: "12px system-ui, 'Noto Sans', sans-serif",
    labelFont: "12px system-ui, 'Noto Sans', sans-serif",
    grid: { stroke: () => colour("grid"), width: 1 },
    ticks: { show: false },
  };
}
