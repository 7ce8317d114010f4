// Distributions of times on an axis of percentiles, on which 90 to 99 % is as wide as 0 to 90 %,
// and so on.

import type { Distribution, Values } from "../model";
import { english } from "../translate";

export const TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/** Return the position of a percentile on the axis. */
export function percentilePosition(share: number): number {
  return -Math.log10(1 - share);
}

/** Return the name of the percentile at a position: `p50`, `p99.9`. */
export function percentileName(at: number): string {
  const remaining = 100 * 10 ** -at;
  const digits = Math.max(0, Math.ceil(-Math.log10(remaining) + 1));
  return `p${(100 - remaining)
    .toFixed(digits)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "")}`;
}

/** Return the cell or level of a curve; curves of one group share a chart. */
function groupOf({ cell, level }: Distribution): string {
  if (cell != null) return english(cell);
  return level == null ? "" : String(level);
}

/** Return curves by group, in their order. */
export function groups(curves: readonly Distribution[]): Map<string, Distribution[]> {
  const byName = new Map<string, Distribution[]>();
  for (const curve of curves) {
    const name = groupOf(curve);
    byName.set(name, [...(byName.get(name) ?? []), curve]);
  }
  return byName;
}

export interface Columns {
  xs: number[];
  values: Values[];
}

/** Return curves as columns over all percentiles that any of them has. */
export function columns(curves: readonly Distribution[]): Columns {
  const shares = [...new Set(curves.flatMap((curve) => curve.points.map(([share]) => share)))];
  shares.sort((a, b) => a - b);
  const values = curves.map((curve) => {
    const byShare = new Map(curve.points);
    return shares.map((share) => byShare.get(share) ?? null);
  });
  return { xs: shares.map(percentilePosition), values };
}
