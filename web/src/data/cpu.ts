// CPU samples of all levels on one time axis: target and torr in percent of a core, and every core.
//
// Levels follow one another. Long series are drawn as means of groups of samples.

import type { Level, Values } from "../model";

export interface CpuSamples {
  /** Start and length of each step, in seconds. */
  xs: number[];
  seconds: number[];
  target: Values;
  generator: Values;
  /** Resident memory of the target, in bytes. */
  memory: Values;
  /** The busiest cores if there are more than can be drawn. */
  cores: { number: number; busy: Values }[];
}

const MAX_STEPS = 120;
const MAX_CORES = 32;

interface Step {
  start: number;
  seconds: number;
  target: number | null;
  generator: number | null;
  memory: number | null;
  cores: Map<number, number | null>;
}

/** Return the samples of levels; null if no core was monitored. */
export function cpuSamples(levels: readonly Level[]): CpuSamples | null {
  const all = steps(levels);
  const groupSize = Math.ceil(all.length / MAX_STEPS);
  const pooled: Step[] = [];
  for (let at = 0; at < all.length; at += groupSize)
    pooled.push(mean(all.slice(at, at + groupSize)));
  const numbers = busiest(pooled);
  if (!numbers.length) return null;
  return {
    xs: pooled.map((step) => step.start),
    seconds: pooled.map((step) => step.seconds),
    target: pooled.map((step) => step.target),
    generator: pooled.map((step) => step.generator),
    memory: pooled.map((step) => step.memory),
    cores: numbers.map((number) => ({
      number,
      busy: pooled.map((step) => step.cores.get(number) ?? null),
    })),
  };
}

function steps(levels: readonly Level[]): Step[] {
  const all: Step[] = [];
  for (const { monitor } of levels) {
    const starts = monitor?.t_s ?? [];
    const last = all.at(-1);
    const offset = last ? last.start + last.seconds - (starts[0] ?? 0) : 0;
    const numbers = monitor?.cores?.numbers ?? [];
    starts.forEach((start, at) => {
      const busy = monitor?.cores?.busy_rate ?? [];
      all.push({
        start: offset + (start ?? 0),
        seconds: monitor?.seconds?.[at] ?? 1,
        target: monitor?.target?.cpu_rate?.[at] ?? null,
        generator: monitor?.generator?.cpu_rate?.[at] ?? null,
        memory: monitor?.target?.rss_bytes?.[at] ?? null,
        cores: new Map(busy.map((values, core) => [numbers[core] ?? core, values[at] ?? null])),
      });
    });
  }
  return all;
}

function mean(group: readonly Step[]): Step {
  const first = group[0];
  if (!first || group.length === 1) return first ?? emptyStep();
  const numbers = [...first.cores.keys()];
  return {
    start: first.start,
    seconds: group.reduce((sum, step) => sum + step.seconds, 0),
    target: average(group.map((step) => step.target)),
    generator: average(group.map((step) => step.generator)),
    memory: highest(group.map((step) => step.memory)),
    cores: new Map(
      numbers.map((n) => [n, average(group.map((step) => step.cores.get(n) ?? null))]),
    ),
  };
}

function emptyStep(): Step {
  return { start: 0, seconds: 0, target: null, generator: null, memory: null, cores: new Map() };
}

function busiest(pooled: readonly Step[]): number[] {
  const sums = new Map<number, number>();
  for (const step of pooled) {
    for (const [number, busy] of step.cores)
      sums.set(number, (sums.get(number) ?? 0) + (busy ?? 0));
  }
  const ordered = [...sums].sort((a, b) => b[1] - a[1]).slice(0, MAX_CORES);
  return ordered.map(([number]) => number).sort((a, b) => a - b);
}

/** Return the highest value: a mean would hide how much memory was needed. */
function highest(values: Values): number | null {
  const present = values.filter((value) => value != null);
  return present.length ? Math.max(...present) : null;
}

function average(values: Values): number | null {
  const present = values.filter((value) => value != null);
  return present.length ? present.reduce((sum, value) => sum + value, 0) / present.length : null;
}
