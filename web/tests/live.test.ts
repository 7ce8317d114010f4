import { describe, expect, it } from "vitest";

import {
  nextState,
  axisRange,
  initialState,
  latest,
  type LiveEvent,
  type Progress,
  type State,
} from "../src/live/state";
import { EventIds } from "../src/live/feed";
import { Frame } from "../src/live/frame";
import type { Run } from "../src/model";
import { level, interval } from "./builders";

const run = (levels: number, id = "one"): Run => ({
  result: {
    id,
    kind: "ladder",
    name: "x",
    levels: Array.from({ length: levels }, () => level(1, [])),
  },
  view: {} as Run["view"],
});

const measured = (at: number, t_s: number): LiveEvent => ({
  name: "interval",
  data: {
    level: at,
    concurrency: 10 * (at + 1),
    round: 1,
    candidate: null,
    factors: {},
    stream_times: ["ttfe"],
    interval: interval(t_s),
  },
});

const fold = (...events: LiveEvent[]): State => events.reduce(nextState, initialState(null));

describe("a live run", () => {
  it("collects the intervals of the current level", () => {
    const state = fold(measured(0, 0), measured(0, 1));
    expect(state.current?.intervals?.map((entry) => entry.t_s)).toEqual([0, 1]);
    expect(latest(state)?.t_s).toBe(1);
    expect(state.current?.stream_times).toEqual(["ttfe"]);
  });

  it("ignores intervals of finished levels", () => {
    const state = fold(measured(0, 0), measured(1, 0), measured(0, 5));
    expect(state.current?.concurrency).toBe(20);
    expect(state.current?.intervals).toHaveLength(1);
  });

  it("appends intervals without copying or reading the others", () => {
    const before = fold(measured(0, 0));
    const intervals = before.current?.intervals;
    const now = nextState(before, measured(0, 1));
    expect(now.current).not.toBe(before.current);
    expect(now.current?.intervals).toBe(intervals);
    expect(intervals).toHaveLength(2);
  });

  it("keeps finished levels as received", () => {
    const state = fold(measured(0, 0), { name: "run", data: run(1) }, measured(1, 0));
    expect(state.run?.result.levels).toHaveLength(1);
    expect(state.at).toBe(1);
  });

  it("ignores events of another run on the same port", () => {
    const first: LiveEvent = { name: "run", data: run(3) };
    const state = fold(first, measured(3, 0), { name: "run", data: run(0, "two") }, measured(0, 0));
    expect(state.isReplaced).toBe(true);
    expect(state.run?.result.id).toBe("one");
    expect(fold(first, { name: "run", data: run(4) }).isReplaced).toBe(false);
    expect(fold(first, { name: "end", data: run(1, "two") }).isReplaced).toBe(true);
  });

  it("ignores events after its end", () => {
    const state = fold({ name: "end", data: run(2) }, measured(3, 0));
    expect(state.isOver).toBe(true);
    expect(state.current).toBeNull();
    expect(state.run?.result.levels).toHaveLength(2);
  });
});

describe("the axis of a level", () => {
  const plan = (from_s: number, to_s: number | null): Progress => ({
    ...{ elapsed_s: 0, remaining_s: null, level: 0, levels: null, is_warmup: true },
    from_s,
    to_s,
    generator: null,
  });

  it("has the planned length from the first interval on", () => {
    expect(axisRange(plan(-2, 30), [-2, -1])).toEqual([-2, 30]);
    expect(axisRange(plan(-2, 30), [-2.1, 30.6])).toEqual([-2.1, 30.6]);
  });

  it("grows in steps without a known end", () => {
    expect(axisRange(plan(0, null), [0, 1])).toEqual([0, 10]);
    expect(axisRange(plan(0, null), [0, 12])).toEqual([0, 20]);
    expect(axisRange(null, [0, 12])).toEqual([0, 12]);
  });
});

describe("events", () => {
  it("are new once, although a new connection repeats them", () => {
    const eventIds = new EventIds();
    const ids = ["a-1", "a-2", "a-1", "a-2", "a-3", "b-1", "b-1"];
    expect(ids.map((id) => eventIds.isNew(id))).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it("are drawn together, once per frame", () => {
    let drawn = 0;
    const callbacks: (() => void)[] = [];
    const frame = new Frame(
      () => (drawn += 1),
      (callback) => callbacks.push(callback),
    );
    for (let at = 0; at < 3300; at += 1) frame.schedule();
    expect(callbacks).toHaveLength(1);
    callbacks.shift()?.();
    expect(drawn).toBe(1);
    frame.schedule();
    expect(callbacks).toHaveLength(1);
  });
});
