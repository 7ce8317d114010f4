// Intervals of levels on one time axis: from the warm-up of a run to its end, or level after level.
//
// A percentile that too few responses support is null and leaves a gap. Percentiles of streams come
// from pooled intervals, which Python sums up. Python also chooses which times of streams are drawn.

import type { Level, Pooled, Interval, Stats, Values } from "../model";

export interface Span {
  from: number;
  to: number;
}

export interface Timeline {
  /** The middle of each interval, in seconds. */
  xs: number[];
  seconds: number[];
  phases: Interval["phase"][];
  /** The position of the level of each interval. */
  positions: number[];
  /** The number of ok responses in each interval. */
  n: number[];
  /** Percentiles of each time, those of streams first, by the name of the time. */
  times: Record<string, Record<Stat, Values>>;
  ok: Values;
  attempted: Values;
  /** Errors per second, by class. */
  errors: Record<string, Values>;
  connections: Values;
  tokens: Values;
  /** Successful responses per second of each node, if several nodes sent the load. */
  nodes: Record<string, Values>;
  /** The largest error of a node's times, in ms; null if all nodes have one clock. */
  clockError: number | null;
  levels: (Span & { position: number; candidate: string | null })[];
  /** The measured window of each level by its index; null if nothing was measured. */
  windows: (Span | null)[];
  warmup: Span | null;
  drain: Span | null;
}

interface PlacedInterval {
  interval: Interval;
  start: number;
  level: Level;
  pooled: Record<string, Partial<Stats>> | null;
}

export type Stat = "p50" | "p95" | "p99";

/**
 * Return the timeline of levels; null without intervals.
 *
 * `from`, in seconds, is the planned start of a running level's axis: its warm-up begins there from
 * the first interval on.
 */
export function timeline(
  levels: readonly Level[],
  pooled: Pooled = {},
  from: number | null = null,
): Timeline | null {
  const spans: Timeline["levels"] = [];
  const windows: Timeline["windows"] = [];
  const placed: PlacedInterval[] = [];
  const isAlone = levels.length === 1;
  let end = 0;
  levels.forEach((level, index) => {
    const start = end;
    const ofLevel = placeIntervals(level, start, pooled[String(index)], isAlone, from);
    const measured = ofLevel.filter((entry) => entry.interval.phase === "measure");
    const last = measured.at(-1);
    if (last) end = last.start + last.interval.seconds;
    if (last)
      spans.push({
        from: start,
        to: end,
        position: positionOf(level),
        candidate: level.candidate ?? null,
      });
    windows.push(last ? { from: start, to: end } : null);
    placed.push(...ofLevel);
  });
  if (!placed.length) return null;
  placed.sort((a, b) => a.start - b.start);
  const clockError = largestClockError(levels);
  const joined = {
    ...columns(placed),
    levels: spans,
    windows,
    clockError,
    ...phaseSpans(placed, end, isAlone),
  };
  return spans.slice(1).reduce(separated, joined);
}

/** Return users or connections, or the rate if the whole load are arrivals. */
export function positionOf(level: Level): number {
  return level.users ? level.concurrency : (level.rate ?? level.concurrency);
}

function largestClockError(levels: readonly Level[]): number | null {
  const nodes = levels.flatMap((level) => level.generator?.nodes ?? []);
  const errors = nodes.flatMap((node) => node.clock?.error_ms ?? []);
  return errors.length ? Math.max(...errors) : null;
}

/** Insert a gap at the start of a level, so that no line joins it with the level before. */
function separated(timeline: Timeline, level: Span): Timeline {
  const at = timeline.xs.findIndex((x) => x > level.from);
  const inserted = <Value>(values: readonly Value[], value: Value): Value[] => [
    ...values.slice(0, at),
    value,
    ...values.slice(at),
  ];
  const gap = (values: Values) => inserted(values, null);
  const gaps = <Key extends string>(columns: Record<Key, Values>) =>
    Object.fromEntries(
      Object.entries<Values>(columns).map(([name, values]) => [name, gap(values)]),
    ) as Record<Key, Values>;
  return {
    ...timeline,
    xs: inserted(timeline.xs, level.from),
    seconds: inserted(timeline.seconds, 0),
    phases: inserted(timeline.phases, "measure"),
    positions: inserted(timeline.positions, timeline.positions[at] ?? 0),
    n: inserted(timeline.n, 0),
    times: Object.fromEntries(
      Object.entries(timeline.times).map(([name, percentiles]) => [name, gaps(percentiles)]),
    ),
    ok: gap(timeline.ok),
    attempted: gap(timeline.attempted),
    errors: gaps(timeline.errors),
    connections: gap(timeline.connections),
    tokens: gap(timeline.tokens),
    nodes: gaps(timeline.nodes),
  };
}

function placeIntervals(
  level: Level,
  start: number,
  pooled: Record<string, Partial<Stats>[]> | undefined,
  isAlone: boolean,
  from: number | null,
): PlacedInterval[] {
  const intervals = level.intervals ?? [];
  let warmupEnd = startOfWarmup(intervals, from);
  const minSeconds =
    0.5 * Math.max(0, ...intervals.filter(isMeasured).map((interval) => interval.seconds));
  const placed: PlacedInterval[] = [];
  intervals.forEach((interval, at) => {
    let at_s = start + interval.t_s;
    if (interval.phase === "warmup") {
      at_s = start + warmupEnd;
      warmupEnd += interval.seconds;
    }
    // A rate over milliseconds is meaningless, and levels of a ladder leave no room for a drain.
    if (!isMeasured(interval) && (!isAlone || interval.seconds < minSeconds)) return;
    const ofInterval = pooled
      ? Object.fromEntries(
          Object.entries(pooled).map(([name, percentiles]) => [name, percentiles[at] ?? {}]),
        )
      : null;
    placed.push({ interval, start: at_s, level, pooled: ofInterval });
  });
  return placed;
}

/** Return the start of the warm-up, which ends at 0; during the warm-up it is the planned start. */
function startOfWarmup(intervals: readonly Interval[], from: number | null): number {
  const last = intervals.at(-1);
  const elapsed = intervals.reduce(
    (sum, { phase, seconds }) => sum + (phase === "warmup" ? seconds : 0),
    0,
  );
  const isAhead = from != null && last?.phase === "warmup" && elapsed <= -from;
  return isAhead ? from : -elapsed;
}

function columns(
  placed: readonly PlacedInterval[],
): Omit<Timeline, "levels" | "windows" | "warmup" | "drain" | "clockError"> {
  const intervals = placed.map((entry) => entry.interval);
  return {
    xs: placed.map(({ interval, start }) => start + interval.seconds / 2),
    seconds: intervals.map((interval) => interval.seconds),
    phases: intervals.map((interval) => interval.phase),
    positions: placed.map((entry) => positionOf(entry.level)),
    n: intervals.map((interval) => interval.latency?.response_ms?.n ?? interval.counts.ok ?? 0),
    times: Object.fromEntries(
      timesOf(placed).map((name) => [
        name,
        percentiles(placed, (entry) => entry.pooled?.[name] ?? timeOf(entry.interval, name)),
      ]),
    ),
    ok: intervals.map((interval) => interval.ok_per_s ?? perSecond(interval, interval.counts.ok)),
    attempted: intervals.map(
      (interval) => interval.attempted_per_s ?? perSecond(interval, interval.counts.attempted),
    ),
    errors: errors(intervals),
    connections: intervals.map((interval) => interval.connections_open ?? null),
    tokens: intervals.map(tokens),
    nodes: nodes(intervals),
  };
}

/** Return the names of the times to draw; every request has a response time, which is the last. */
function timesOf(placed: readonly PlacedInterval[]): string[] {
  const names = placed.flatMap((entry) =>
    entry.pooled ? Object.keys(entry.pooled) : (entry.level.stream_times ?? []),
  );
  return [...new Set(names.filter((name) => name !== "response")), "response"];
}

/** Return a time of an interval, of its requests or of its streams. */
function timeOf({ latency, stream }: Interval, name: string): Stats | null {
  return latency?.[`${name}_ms`] ?? stream?.[`${name}_ms`] ?? null;
}

function percentiles(
  placed: readonly PlacedInterval[],
  read: (entry: PlacedInterval) => Partial<Stats> | null | undefined,
): Record<Stat, Values> {
  const valuesOf = (stat: Stat) => placed.map((entry) => read(entry)?.[stat] ?? null);
  return { p50: valuesOf("p50"), p95: valuesOf("p95"), p99: valuesOf("p99") };
}

function errors(intervals: readonly Interval[]): Record<string, Values> {
  const totals = new Map<string, number>();
  for (const interval of intervals) {
    for (const [name, n] of Object.entries(interval.counts.errors ?? {})) {
      if (n) totals.set(name, (totals.get(name) ?? 0) + n);
    }
  }
  const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  return Object.fromEntries(
    names.map((name) => [
      name,
      intervals.map((interval) => perSecond(interval, interval.counts.errors?.[name] ?? 0)),
    ]),
  );
}

function nodes(intervals: readonly Interval[]): Record<string, Values> {
  const names = new Set(
    intervals.flatMap((interval) => (interval.nodes ?? []).map((node) => node.name)),
  );
  if (names.size < 2) return {};
  const ratesOfNodes = intervals.map(
    (interval) => new Map(interval.nodes?.map((node) => [node.name, node.ok_per_s])),
  );
  return Object.fromEntries(
    [...names].map((name) => [name, ratesOfNodes.map((rates) => rates.get(name) ?? null)]),
  );
}

function tokens(interval: Interval): number | null {
  const { tokens_per_s: rate, tokens_out: tokensOut } = interval.stream ?? {};
  if (isMeasured(interval) && rate != null) return rate;
  if (tokensOut != null) return tokensOut / interval.seconds;
  return interval.ok_per_s ? null : 0;
}

function phaseSpans(
  placed: readonly PlacedInterval[],
  end: number,
  isAlone: boolean,
): Pick<Timeline, "warmup" | "drain"> {
  const first = placed[0];
  const last = placed.at(-1);
  if (!first || !last || !isAlone) return { warmup: null, drain: null };
  const runEnd = last.start + last.interval.seconds;
  return {
    warmup: first.start < 0 ? { from: first.start, to: 0 } : null,
    drain: runEnd > end + 1e-9 ? { from: end, to: runEnd } : null,
  };
}

function perSecond(interval: Interval, n: number | undefined): number {
  return interval.seconds ? (n ?? 0) / interval.seconds : 0;
}

function isMeasured(interval: Interval): boolean {
  return interval.phase === "measure";
}
