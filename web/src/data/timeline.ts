// Slices on one axis of time: a run from its warm-up to its end, levels one behind the other.
//
// A percentile that too few answers carry is null, and leaves a gap. Of streams, percentiles are
// those of pooled slices, which Python adds up.

import type { Level, Pooled, Slice, Stats } from "../model";

export type Values = (number | null)[];

export interface Span {
  from: number;
  to: number;
}

export interface Timeline {
  /** The middle of each slice, in seconds. */
  xs: number[];
  seconds: number[];
  phases: Slice["phase"][];
  concurrency: number[];
  /** How many ok answers a slice's times are of. */
  n: number[];
  times: Record<"response" | "ttft", Record<Stat, Values>>;
  ok: Values;
  attempted: Values;
  /** Errors a second, by class. */
  errors: Record<string, Values>;
  connections: Values;
  tokens: Values;
  levels: (Span & { concurrency: number; candidate: string | null })[];
  warmup: Span | null;
  drain: Span | null;
  isStreamed: boolean;
}

interface Placed {
  slice: Slice;
  start: number;
  level: Level;
  pooled: Partial<Record<"response" | "ttft", Partial<Stats>>> | null;
}

type Stat = "p50" | "p95" | "p99";

/**
 * Put the slices of levels in their places; null where there are none.
 *
 * `from`, in seconds, is where the axis of a level that goes on is planned to begin: its warm-up
 * stands there from its first slice on.
 */
export function timeline(
  levels: readonly Level[],
  pooled: Pooled = {},
  from: number | null = null,
): Timeline | null {
  const spans: Timeline["levels"] = [];
  const placed: Placed[] = [];
  const isAlone = levels.length === 1;
  let end = 0;
  levels.forEach((level, index) => {
    const start = end;
    const own = place(level, start, pooled[String(index)], isAlone, from);
    const measured = own.filter((each) => each.slice.phase === "measure");
    const last = measured.at(-1);
    if (last) end = last.start + last.slice.seconds;
    if (last)
      spans.push({
        from: start,
        to: end,
        concurrency: level.concurrency,
        candidate: level.candidate ?? null,
      });
    placed.push(...own);
  });
  if (!placed.length) return null;
  placed.sort((a, b) => a.start - b.start);
  const found = { ...columns(placed), levels: spans, ...surroundings(placed, end, isAlone) };
  return spans.slice(1).reduce(apart, found);
}

/** Keep lines from joining a level with the one before: nothing is known where it begins. */
function apart(found: Timeline, level: Span): Timeline {
  const at = found.xs.findIndex((x) => x > level.from);
  const put = <Value>(values: readonly Value[], value: Value): Value[] => [
    ...values.slice(0, at),
    value,
    ...values.slice(at),
  ];
  const gap = (values: Values) => put(values, null);
  const gaps = <Key extends string>(columns: Record<Key, Values>) =>
    Object.fromEntries(
      Object.entries<Values>(columns).map(([name, values]) => [name, gap(values)]),
    ) as Record<Key, Values>;
  return {
    ...found,
    xs: put(found.xs, level.from),
    seconds: put(found.seconds, 0),
    phases: put(found.phases, "measure"),
    concurrency: put(found.concurrency, found.concurrency[at] ?? 0),
    n: put(found.n, 0),
    times: { response: gaps(found.times.response), ttft: gaps(found.times.ttft) },
    ok: gap(found.ok),
    attempted: gap(found.attempted),
    errors: gaps(found.errors),
    connections: gap(found.connections),
    tokens: gap(found.tokens),
  };
}

function place(
  level: Level,
  start: number,
  pooled: Record<string, Partial<Stats>[]> | undefined,
  isAlone: boolean,
  from: number | null,
): Placed[] {
  const slices = level.slices ?? [];
  let before = begin(slices, from);
  const least = 0.5 * Math.max(0, ...slices.filter(isMeasured).map((slice) => slice.seconds));
  const made: Placed[] = [];
  slices.forEach((slice, at) => {
    let at_s = start + slice.t_s;
    if (slice.phase === "warmup") {
      at_s = start + before;
      before += slice.seconds;
    }
    // A rate over some milliseconds says nothing, and levels of a ladder leave no room between them.
    if (!isMeasured(slice) && (!isAlone || slice.seconds < least)) return;
    const own = pooled
      ? { response: pooled["response"]?.[at] ?? {}, ttft: pooled["ttft"]?.[at] ?? {} }
      : null;
    made.push({ slice, start: at_s, level, pooled: own });
  });
  return made;
}

/** Where the warm-up begins: it ends at 0, and while that is ahead nobody but the plan knows. */
function begin(slices: readonly Slice[], from: number | null): number {
  const last = slices.at(-1);
  const done = slices.reduce(
    (sum, { phase, seconds }) => sum + (phase === "warmup" ? seconds : 0),
    0,
  );
  const isAhead = from != null && last?.phase === "warmup" && done <= -from;
  return isAhead ? from : -done;
}

function columns(placed: readonly Placed[]): Omit<Timeline, "levels" | "warmup" | "drain"> {
  const slices = placed.map((each) => each.slice);
  const isStreamed = placed.some((each) => each.level.stream ?? each.slice.stream);
  return {
    xs: placed.map(({ slice, start }) => start + slice.seconds / 2),
    seconds: slices.map((slice) => slice.seconds),
    phases: slices.map((slice) => slice.phase),
    concurrency: placed.map((each) => each.level.concurrency),
    n: slices.map((slice) => slice.latency?.response_ms?.n ?? slice.counts.ok ?? 0),
    times: {
      response: percentiles(
        placed,
        (each) => each.pooled?.response ?? each.slice.latency?.response_ms,
      ),
      ttft: percentiles(placed, (each) => each.pooled?.ttft ?? each.slice.stream?.ttft_ms),
    },
    ok: slices.map((slice) => slice.ok_per_s ?? perSecond(slice, slice.counts.ok)),
    attempted: slices.map(
      (slice) => slice.attempted_per_s ?? perSecond(slice, slice.counts.attempted),
    ),
    errors: errors(slices),
    connections: slices.map((slice) => slice.connections_open ?? null),
    tokens: slices.map(tokens),
    isStreamed,
  };
}

function percentiles(
  placed: readonly Placed[],
  read: (each: Placed) => Partial<Stats> | null | undefined,
): Record<Stat, Values> {
  const of = (stat: Stat) => placed.map((each) => read(each)?.[stat] ?? null);
  return { p50: of("p50"), p95: of("p95"), p99: of("p99") };
}

function errors(slices: readonly Slice[]): Record<string, Values> {
  const totals = new Map<string, number>();
  for (const slice of slices) {
    for (const [name, n] of Object.entries(slice.counts.errors ?? {})) {
      if (n) totals.set(name, (totals.get(name) ?? 0) + n);
    }
  }
  const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  return Object.fromEntries(
    names.map((name) => [
      name,
      slices.map((slice) => perSecond(slice, slice.counts.errors?.[name] ?? 0)),
    ]),
  );
}

function tokens(slice: Slice): number | null {
  const { tokens_per_s: rate, tokens_out: told } = slice.stream ?? {};
  if (isMeasured(slice) && rate != null) return rate;
  if (told != null) return told / slice.seconds;
  return slice.ok_per_s ? null : 0;
}

function surroundings(
  placed: readonly Placed[],
  end: number,
  isAlone: boolean,
): Pick<Timeline, "warmup" | "drain"> {
  const first = placed[0];
  const last = placed.at(-1);
  if (!first || !last || !isAlone) return { warmup: null, drain: null };
  const over = last.start + last.slice.seconds;
  return {
    warmup: first.start < 0 ? { from: first.start, to: 0 } : null,
    drain: over > end + 1e-9 ? { from: end, to: over } : null,
  };
}

function perSecond(slice: Slice, n: number | undefined): number {
  return slice.seconds ? (n ?? 0) / slice.seconds : 0;
}

function isMeasured(slice: Slice): boolean {
  return slice.phase === "measure";
}
