import { describe, expect, it } from "vitest";

import { timelineSpecs } from "../src/charts/timeline";
import { timeline } from "../src/data/timeline";
import { level, interval } from "./builders";

describe("timeline", () => {
  it("is null without intervals", () => {
    expect(timeline([level(5, [])])).toBeNull();
  });

  it("has each interval at its middle, the warm-up before zero and the drain at the end", () => {
    const result = timeline([
      level(5, [
        interval(-2, { phase: "warmup" }),
        interval(-1, { phase: "warmup" }),
        interval(0),
        interval(1),
        interval(2, { phase: "drain" }),
      ]),
    ]);
    expect(result?.xs).toEqual([-1.5, -0.5, 0.5, 1.5, 2.5]);
    expect(result?.warmup).toEqual({ from: -2, to: 0 });
    expect(result?.drain).toEqual({ from: 2, to: 3 });
    expect(result?.levels).toEqual([{ from: 0, to: 2, position: 5, candidate: null }]);
  });

  it("does not move a running warm-up", () => {
    const warm = (t_s: number) => interval(t_s, { phase: "warmup" });
    const xs = (...intervals: ReturnType<typeof warm>[]) =>
      timeline([level(5, intervals)], {}, -3)?.xs;
    expect(xs(warm(-3))).toEqual([-2.5]);
    expect(xs(warm(-3), warm(-2))).toEqual([-2.5, -1.5]);
    expect(xs(warm(-3), warm(-2), warm(-1), interval(0))).toEqual([-2.5, -1.5, -0.5, 0.5]);
    expect(xs(...[1, 2, 3, 4].map(() => warm(-1)))).toEqual([-3.5, -2.5, -1.5, -0.5]);
  });

  it("leaves out intervals too short for a rate, outside of the window only", () => {
    const result = timeline([
      level(5, [
        interval(0),
        interval(1, { seconds: 0.2 }),
        interval(1.2, { seconds: 0.1, phase: "drain" }),
      ]),
    ]);
    expect(result?.seconds).toEqual([1, 0.2]);
  });

  it("places levels one after the other, without warm-ups", () => {
    const warm = interval(-1, { phase: "warmup" });
    const result = timeline([
      level(5, [warm, interval(0), interval(1)]),
      level(9, [warm, interval(0)]),
    ]);
    expect(result?.xs).toEqual([0.5, 1.5, 2, 2.5]);
    expect(result?.ok).toEqual([100, 100, null, 100]);
    expect(result?.times["response"]?.p50).toEqual([10, 11, null, 10]);
    expect(result?.errors).toEqual({ timeout: [2, 2, null, 2] });
    expect(result?.levels.map((entry) => [entry.from, entry.to])).toEqual([
      [0, 2],
      [2, 3],
    ]);
    expect(result?.warmup).toBeNull();
  });

  it("has no percentile that too few responses support", () => {
    const result = timeline([level(5, [interval(0), interval(1)])]);
    expect(result?.times["response"]).toEqual({ p50: [10, 11], p95: [20, 20], p99: [null, null] });
  });

  it("counts errors per second by class, the most frequent first", () => {
    const more = { counts: { ok: 1, errors: { status: 9, timeout: 2, read: 0 } }, seconds: 2 };
    const result = timeline([level(5, [interval(0, more), interval(2)])]);
    expect(Object.keys(result?.errors ?? {})).toEqual(["status", "timeout"]);
    expect(result?.errors).toEqual({ status: [4.5, 0], timeout: [1, 2] });
  });

  it("reads percentiles of streams from their pools", () => {
    const stream = { tokens_per_s: 50, ttft_ms: { n: 3, p50: null } };
    const pooled = { "0": { ttft: [{ p50: 300 }], response: [{ p50: 480 }] } };
    const result = timeline([level(5, [interval(0, { stream })])], pooled);
    expect(Object.keys(result?.times ?? {})).toEqual(["ttft", "response"]);
    expect(result?.times["ttft"]?.p50).toEqual([300]);
    expect(result?.times["response"]?.p50).toEqual([480]);
    expect(result?.tokens).toEqual([50]);
  });

  it("reads the pool of each interval, also when intervals of the warm-up are left out", () => {
    const stream = { tokens_per_s: 50, ttft_ms: { n: 3, p50: null } };
    const levels = [5, 10].map((users) =>
      level(users, [interval(-1, { phase: "warmup", stream }), interval(0, { stream })]),
    );
    const pool = (p50: number) => ({
      ttft: [{ p50: 1 }, { p50 }],
      response: [{ p50: 2 }, { p50: p50 + 5 }],
    });
    const result = timeline(levels, { "0": pool(300), "1": pool(400) });
    expect(result?.times["ttft"]?.p50).toEqual([300, null, 400]);
    expect(result?.times["response"]?.p50).toEqual([305, null, 405]);
  });

  it("reads the times of streams and of calls from the intervals of a running level", () => {
    const stats = (p50: number) => ({ n: 30, p50, p95: null, p99: null });
    const running = interval(0, {
      stream: { ttfe_ms: stats(3) },
      latency: { response_ms: stats(9), message_ms: stats(2) },
    });
    const more = { stream_times: ["ttfe", "message"] };
    const result = timeline([level(5, [interval(-1, { phase: "warmup" }), running], more)]);
    const medians = Object.entries(result?.times ?? {}).map(([name, { p50 }]) => [name, p50]);
    expect(medians).toEqual([
      ["ttfe", [null, 3]],
      ["message", [null, 2]],
      ["response", [9, 9]],
    ]);
    const titles = result && timelineSpecs(result).map((spec) => spec.title);
    expect(titles?.slice(0, 3)).toEqual(["time.ttfe · p50", "time.message · p50", "time.response"]);
  });

  it("has no tokens if responses came without a number of tokens", () => {
    const result = timeline([level(5, [interval(0), interval(1, { ok_per_s: 0 })])]);
    expect(result?.tokens).toEqual([null, 0]);
  });

  it("draws a limit only with the curve of its percentile", () => {
    const slo = { text: "p95 < 8ms", metric: "response", stat: "p95", limit: 8, unit: "ms" };
    const times = (p95: number | null) =>
      interval(0, { latency: { response_ms: { n: 100, p50: 5, p95, p99: null } } });
    const drawn = (p95: number | null) => {
      const result = timeline([level(5, [times(p95), times(p95)])]);
      return result && timelineSpecs(result, [{ ...slo, request: null }])[0];
    };
    expect(drawn(9)?.above).toHaveLength(1);
    expect(drawn(null)?.above).toHaveLength(0);
    expect(drawn(null)?.title).toContain("p50");
  });

  const from = (count: number) => (rate: number) => ({
    nodes: [...Array(count).keys()].map((at) => ({ name: `node${at}`, ok_per_s: rate + at })),
  });

  it("has the rate of each node, with a gap where it is missing", () => {
    const [two, one] = [from(2), from(1)];
    const result = timeline([
      level(5, [interval(0, two(10)), interval(1, one(20))]),
      level(9, [interval(0, two(30))]),
    ]);
    expect(result?.nodes).toEqual({ node0: [10, 20, null, 30], node1: [11, null, null, 31] });
    const labels = result && timelineSpecs(result)[2]?.lines.map((line) => line.label);
    expect(labels).toEqual(["node0", "node1"]);
  });

  it("says by how much the times of nodes with other clocks may be wrong", () => {
    const drawn = (...errors: (number | null)[]) => {
      const nodes = errors.map((error_ms) => ({ clock: error_ms === null ? null : { error_ms } }));
      const one = { ...level(5, [interval(0, from(2)(10))]), generator: { nodes } };
      const result = timeline([level(9, [interval(0, from(2)(10))]), one]);
      return [result?.clockError, result && timelineSpecs(result)[2]?.title];
    };
    expect(drawn(0.12, 3.5, null)).toEqual([3.5, "time.nodesWithin"]);
    expect(drawn(null)).toEqual([null, "time.nodes"]);
  });

  it("draws no rates of nodes for a load of one node", () => {
    const result = timeline([level(5, [interval(0, from(1)(10)), interval(1, from(1)(10))])]);
    expect(result?.nodes).toEqual({});
    expect(result && timelineSpecs(result)).toHaveLength(3);
  });

  it("draws the slowest and the fastest of many nodes", () => {
    const result = timeline([level(5, [interval(0, from(20)(10)), interval(1, from(20)(50))])]);
    const lines = result && timelineSpecs(result)[2]?.lines;
    expect(lines?.map((line) => line.values)).toEqual([
      [29, 69],
      [10, 50],
    ]);
  });
});
