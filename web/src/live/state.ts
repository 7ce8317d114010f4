// The state of a running run: finished levels, intervals of the current level, and progress. It is
// computed from events, of which each arrives once.

import { roundedUp } from "../charts/range";
import type { Level, Run, Interval, View } from "../model";

const MIN_AXIS_S = 10;

export interface Progress {
  elapsed_s: number;
  remaining_s: number | null;
  level: number;
  /** The number of levels, if it is known. */
  levels: number | null;
  is_warmup: boolean;
  /** Start of the level's axis, and its end if it is known. */
  from_s: number;
  to_s: number | null;
  /** The health of the generator in the newest interval. */
  generator: View["trust"] | null;
}

export interface IntervalEvent {
  level: number;
  concurrency: number;
  rate?: number | null;
  round: number;
  candidate: string | null;
  factors: Record<string, unknown>;
  stream_times: string[];
  interval: Interval;
}

export type LiveEvent =
  | { name: "run"; data: Run }
  | { name: "interval"; data: IntervalEvent }
  | { name: "progress"; data: Progress }
  | { name: "end"; data: Run };

export interface State {
  run: Run | null;
  /** The current level and its index in the run. */
  at: number;
  current: Level | null;
  progress: Progress | null;
  isOver: boolean;
  /** Whether another run now uses the same port. */
  isReplaced: boolean;
}

/** Return the state before any event. */
export function initialState(run: Run | null): State {
  return { run, at: -1, current: null, progress: null, isOver: false, isReplaced: false };
}

/** Return the state after an event. */
export function nextState(state: State, event: LiveEvent): State {
  if (state.isOver || state.isReplaced) return state;
  if (isOtherRun(state, event)) return { ...state, isReplaced: true };
  switch (event.name) {
    case "run":
      return { ...state, run: event.data };
    case "progress":
      return { ...state, progress: event.data };
    case "end":
      return { ...state, run: event.data, current: null, isOver: true };
    case "interval":
      return withInterval(state, event.data);
  }
}

/** Return whether an event is of another run; every server sends a `run` first. */
function isOtherRun({ run }: State, event: LiveEvent): boolean {
  if (!run || (event.name !== "run" && event.name !== "end")) return false;
  return event.data.result.id !== run.result.id;
}

/** Return the newest interval of the current level. */
export function latest(state: State): Interval | null {
  return state.current?.intervals?.at(-1) ?? null;
}

/**
 * Return the range of a level's time axis: the planned one, extended to all values. Without a known
 * end it grows in steps, so that most intervals do not change it.
 */
export function axisRange(
  plan: Progress | null,
  [first, last]: [number, number],
): [number, number] {
  if (!plan) return [first, last];
  const end = plan.to_s ?? roundedUp(Math.max(last, MIN_AXIS_S));
  return [Math.min(first, plan.from_s), Math.max(last, end)];
}

function withInterval(state: State, event: IntervalEvent): State {
  if (event.level < state.at) return state;
  const { concurrency, rate, round, candidate, stream_times, interval } = event;
  if (event.level > state.at || !state.current) {
    const current = { concurrency, rate, round, candidate, stream_times, intervals: [interval] };
    return { ...state, at: event.level, current };
  }
  // The list is modified in place: copying it for each interval would be slower than drawing.
  const intervals = state.current.intervals ?? [];
  intervals.push(interval);
  return { ...state, current: { ...state.current, intervals } };
}
