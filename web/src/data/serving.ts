// Series of LLM servers and GPUs on the time axis of the intervals, one entry per source.
//
// Of a single level the warm-up and the drain are included, of several only the measured windows.

import type { Level, ServingQuantity, ServingSource, Values } from "../model";
import type { Timeline } from "./timeline";

export interface ServingTimes {
  /** The name of the source, with its address if there are several. */
  name: string;
  /** The middle of each interval, in seconds. */
  xs: number[];
  columns: Partial<Record<ServingQuantity, Values>>;
}

export const QUANTITIES: readonly ServingQuantity[] = [
  "running",
  "waiting",
  "kv_cache_rate",
  "prefix_hit_rate",
  "preemptions_per_s",
  "queue_ms",
  "ttft_ms",
  "prompt_tokens_per_s",
  "generated_tokens_per_s",
  "gpu_rate",
  "gpu_memory_bytes",
  "power_w",
];

interface Step {
  x: number;
  source: ServingSource | null;
  at: number;
}

/** Return the sources of all levels, each with the quantities that it reports. */
export function servingTimes(levels: readonly Level[], timeline: Timeline): ServingTimes[] {
  const byKey = new Map<string, { source: ServingSource; steps: Step[] }>();
  levels.forEach((level, index) => {
    for (const source of level.monitor?.serving?.sources ?? []) {
      const key = `${source.source} ${source.url}`;
      const entry = byKey.get(key) ?? { source, steps: [] };
      byKey.set(key, entry);
      entry.steps.push(...stepsOf(source, index, timeline, entry.steps.length > 0));
    }
  });
  const isAlone = byKey.size < 2;
  return [...byKey.values()].flatMap(({ source, steps }) => {
    const columns = columnsOf(steps);
    if (!Object.keys(columns).length) return [];
    return [{ name: nameOf(source, isAlone), xs: steps.map((step) => step.x), columns }];
  });
}

/** Return the steps of a level, after a gap that separates them from the level before. */
function stepsOf(
  source: ServingSource,
  index: number,
  timeline: Timeline,
  hasBefore: boolean,
): Step[] {
  const window = timeline.windows[index];
  if (!window) return [];
  const isAlone = timeline.levels.length < 2;
  const first = (timeline.xs[0] ?? 0) - (timeline.seconds[0] ?? 0) / 2;
  const last = (timeline.xs.at(-1) ?? 0) + (timeline.seconds.at(-1) ?? 0) / 2;
  const [from, to] = isAlone ? [first, last] : [window.from, window.to];
  const steps = (source.t_s ?? []).map((start, at) => ({
    x: window.from + start + (source.seconds?.[at] ?? 0) / 2,
    source,
    at,
  }));
  const inside = steps.filter(({ x }) => x >= from && x <= to);
  return hasBefore && inside.length ? [{ x: from, source: null, at: 0 }, ...inside] : inside;
}

function columnsOf(steps: readonly Step[]): ServingTimes["columns"] {
  const columns: ServingTimes["columns"] = {};
  for (const quantity of QUANTITIES) {
    const values = steps.map(({ source, at }) => source?.[quantity]?.[at] ?? null);
    if (values.some((value) => value != null)) columns[quantity] = values;
  }
  return columns;
}

/** Return `vllm`, or `vllm gpu1:8000` beside other sources. */
function nameOf({ source, url }: ServingSource, isAlone: boolean): string {
  const address = url.replace(/^\w+:\/\//, "").replace(/\/.*$/, "");
  if (isAlone) return source;
  return address.startsWith(source) ? address : `${source} ${address}`;
}
