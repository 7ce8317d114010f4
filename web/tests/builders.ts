// Intervals and points for tests.

import type { Level, Point, Interval } from "../src/model";

export function interval(t_s: number, more: Partial<Interval> = {}): Interval {
  const response_ms = { n: 100, p50: 10 + t_s, p95: 20, p99: null };
  return {
    t_s,
    seconds: 1,
    phase: "measure",
    counts: { attempted: 102, ok: 100, errors: { timeout: 2 } },
    ok_per_s: 100,
    attempted_per_s: 102,
    latency: { response_ms },
    ...more,
  };
}

export function level(
  concurrency: number,
  intervals: Interval[],
  more: Partial<Level> = {},
): Level {
  return { concurrency, round: 1, intervals, ...more };
}

export function point(position: number, more: Partial<Point> = {}): Point {
  return {
    position,
    ok_per_s: 10 * position,
    service_ms: 5,
    success_rate: 100,
    p95_ms: 9,
    rounds: 1,
    at_least: false,
    p95_at_least: false,
    ok_per_s_range: null,
    p95_ms_range: null,
    claim: "whole",
    ...more,
  };
}
