// Points of a ladder as columns, separately for levels that support claims and for the others.

import type { Claim, Ladder, Point, Slo, Usl, Values } from "../model";

/** Return a value of every level; null for levels that support no claim. */
export function claimedValues(
  points: readonly Point[],
  read: (point: Point) => number | null,
): Values {
  return points.map((point) => (point.claim === "whole" ? read(point) : null));
}

/** Return a value of every level that supports no claim; null for the others. */
export function unclaimedValues(
  points: readonly Point[],
  read: (point: Point) => number | null,
): Values {
  return points.map((point) => (point.claim === "whole" ? null : read(point)));
}

export interface Region {
  from: number;
  to: number;
  claim: Claim;
}

/** Return the part of the axis around each level without claims, halfway to its neighbours. */
export function regions(points: readonly Point[]): Region[] {
  return points.flatMap((point, at) => {
    if (point.claim === "whole") return [];
    const [before, after] = [points[at - 1], points[at + 1]];
    const from = before ? Math.sqrt(before.position * point.position) : point.position / 2;
    const to = after ? Math.sqrt(after.position * point.position) : point.position * 2;
    return [{ from, to, claim: point.claim }];
  });
}

/** Return the Universal Scalability Law as a function: throughput by concurrency. */
export function uslCurve(fit: Usl): (level: number) => number {
  const { lambda, sigma, kappa } = fit;
  return (n) => (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

/** Return the limits on response and service times. */
export function timeLimits(ladder: Ladder): Slo[] {
  const isOfTimes = (slo: Slo) => ["response", "service"].includes(slo.metric.replace("_ms", ""));
  return ladder.slos.filter((slo) => slo.unit === "ms" && !slo.request && isOfTimes(slo));
}

/** Return whether values span a factor of more than 20, so that a logarithmic scale fits. */
export function spansFar(values: Values): boolean {
  const names = values.filter((value): value is number => value != null && value > 0);
  return names.length > 0 && Math.max(...names) > 20 * Math.min(...names);
}
