// What is known of a run that goes on: finished levels, the intervals of the one being measured, and
// how much is left. Events are folded in one by one; none comes twice.

import { roundedUp } from "../charts/range";
import type { Level, Run, Interval, View } from "../model";

const MIN_AXIS_S = 10;

export interface Progress {
  done_s: number;
  left_s: number | null;
  level: number;
  /** How many there will be, where that is known. */
  levels: number | null;
  is_warmup: boolean;
  /** Where the axis of the level begins, and where it ends if that is known. */
  from_s: number;
  to_s: number | null;
  /** How the generator does in the newest interval. */
  generator: View["trust"] | null;
}

export interface IntervalEvent {
  level: number;
  concurrency: number;
  round: number;
  candidate: string | null;
  factors: Record<string, unknown>;
  interval: Interval;
}

export type LiveEvent =
  | { name: "run"; data: Run }
  | { name: "interval"; data: IntervalEvent }
  | { name: "progress"; data: Progress }
  | { name: "end"; data: Run };

export interface State {
  run: Run | null;
  /** The level being measured, and its place in the run. */
  at: number;
  current: Level | null;
  progress: Progress | null;
  isOver: boolean;
  /** Whether another run has taken the place of this one, on the same port. */
  isReplaced: boolean;
}

/** Nothing known yet, or what the page was given. */
export function initialState(run: Run | null): State {
  return { run, at: -1, current: null, progress: null, isOver: false, isReplaced: false };
}

/** The state after an event. */
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

/** Every server begins with a `run`, so that no interval of another run comes before this is seen. */
function isOtherRun({ run }: State, event: LiveEvent): boolean {
  if (!run || (event.name !== "run" && event.name !== "end")) return false;
  return event.data.result.id !== run.result.id;
}

/** The last interval of the window, of which the page says its numbers; before it, of the warm-up. */
export function latest(state: State): Interval | null {
  return state.current?.intervals?.at(-1) ?? null;
}

/**
 * The axis of a level in seconds: what is planned of it, and all there is. Where no end is known it
 * grows in steps, so that most intervals leave it as it is.
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
  const { concurrency, round, candidate, interval } = event;
  if (event.level > state.at || !state.current) {
    const current = { concurrency, round, candidate, intervals: [interval] };
    return { ...state, at: event.level, current };
  }
  // One list that grows: a copy for each interval of an hour would take longer than drawing them.
  const intervals = state.current.intervals ?? [];
  intervals.push(interval);
  return { ...state, current: { ...state.current, intervals } };
}
