import { describe, expect, it } from "vitest";

import { diffSpecs } from "../src/charts/diff";
import { ladderSpecs, moreSpecs } from "../src/charts/ladder";
import { ratios } from "../src/data/diff";
import {
  unclaimedValues,
  claimedValues,
  regions,
  spansFar,
  timeLimits,
  uslCurve,
} from "../src/data/ladder";
import { limitsInRange } from "../src/data/limits";
import type { Ladder, Point, Slo } from "../src/model";
import { point } from "./builders";

const slo = (metric: string, stat: string | null, limit: number, unit = "ms"): Slo => ({
  text: `${metric} ${stat ?? ""} < ${limit}`,
  metric,
  stat,
  limit,
  unit,
  request: null,
});

const ladder = (more: Partial<Ladder>): Ladder => ({
  noun: "connection",
  points: [],
  findings: [],
  slos: [],
  stream_panels: [],
  joined: [],
  ...more,
});

describe("points", () => {
  const points = [point(10), point(20, { claim: "limited" }), point(40)];

  it("of levels with and without claims are separate columns", () => {
    expect(claimedValues(points, (point) => point.ok_per_s)).toEqual([100, null, 400]);
    expect(unclaimedValues(points, (point) => point.ok_per_s)).toEqual([null, 200, null]);
  });

  it("without claims have the axis halfway to their neighbours, on a logarithmic scale", () => {
    const [region] = regions(points);
    expect(region?.from).toBeCloseTo(Math.sqrt(200));
    expect(region?.to).toBeCloseTo(Math.sqrt(800));
    expect(regions([point(8, { claim: "cut" })])).toEqual([{ from: 4, to: 16, claim: "cut" }]);
  });
});

describe("the scalability law", () => {
  it("is linear without contention and falls past its peak with crosstalk", () => {
    expect(uslCurve({ lambda: 3, sigma: 0, kappa: 0, r2: 1 })(7)).toBe(21);
    const model = uslCurve({ lambda: 1000, sigma: 0.02, kappa: 0.0001, r2: 1 });
    const peak = Math.sqrt((1 - 0.02) / 0.0001);
    expect(model(peak)).toBeGreaterThan(model(peak * 0.9));
    expect(model(peak)).toBeGreaterThan(model(peak * 1.1));
  });
});

describe("limits", () => {
  it("of times are those of whole responses, of all requests", () => {
    const slos = [slo("response", "p95", 60), slo("ttft", "p95", 9), slo("success", null, 99, "%")];
    slos.push({ ...slo("response", "p95", 1), request: "login" });
    expect(timeLimits(ladder({ slos }))).toEqual([slos[0]]);
  });

  it("are drawn up to three times the highest value", () => {
    const slos = [slo("response", "p95", 60), slo("response", "p99", 61)];
    expect(limitsInRange(slos, "response", [null, 5, 20])).toEqual([slos[0]]);
    expect(limitsInRange(slos, "ttft", [90])).toEqual([]);
  });
});

describe("a panel of streams", () => {
  const panel = { metric: "ttft", statistics: ["ttft p95", "ttft p50"] };
  const points = [point(1, { stream: { "ttft p50": 1, "ttft p95": 2 } })];
  const drawn = (slos: Slo[], panels = [panel]) =>
    moreSpecs(ladder({ points, slos, stream_panels: panels }))[0];

  it("has a line for each statistic that Python chose", () => {
    expect(drawn([])?.lines.map((line) => [line.label, line.values])).toEqual([
      ["ttft p95", [2]],
      ["ttft p50", [1]],
    ]);
  });

  it("leaves out limits far above its values, which would flatten them", () => {
    expect(drawn([slo("ttft", "p95", 6), slo("ttft", "p50", 7)])?.y.mustInclude).toEqual([6]);
  });
});

describe("the axis of times", () => {
  it("includes the ranges of rounds", () => {
    const points = [point(10, { p95_ms_range: [2, 70] }), point(20)];
    const [, times] = ladderSpecs(ladder({ points }), null);
    expect(times?.y.mustInclude).toEqual([2, 70]);
  });
});

describe("lower bounds", () => {
  it("are named at their level", () => {
    const points = [point(10), point(20, { at_least: true, p95_at_least: true })];
    const [rates] = ladderSpecs(ladder({ points }), null);
    const bounds = "ladder.atLeast · ladder.p95AtLeast";
    expect(rates?.heading(0)).not.toMatch(/AtLeast|atLeast/);
    expect(rates?.heading(1)).toContain(bounds);
  });

  it("are named with their side of a diff", () => {
    const side = (name: string, more: Partial<Point>) => ({ name, points: [point(10, more)] });
    const [rates] = diffSpecs({
      noun: "connection",
      margin: [0.95, 1.05],
      sides: [side("old", {}), side("new", { at_least: true })],
      stream_metrics: [],
      changes: [],
    });
    expect(rates?.heading(0)).toContain(" · new: ladder.atLeast");
    expect(rates?.heading(0)).not.toContain("old");
  });
});

describe("scales", () => {
  it("are logarithmic if times span a factor of more than 20", () => {
    expect(spansFar([1, null, 20])).toBe(false);
    expect(spansFar([1, null, 20.1])).toBe(true);
    expect(spansFar([])).toBe(false);
  });
});

describe("ratios", () => {
  it("exist at common levels, with complete intervals", () => {
    const change = { metric: "ok_per_s", baseline_value: 1, value: 2, n: 1, word: null };
    const data = ratios(
      [
        { ...change, position: 10, ratio: 2, interval: [1.9, 2.1] },
        { ...change, position: 20, ratio: 3, interval: [null, 4] },
        { ...change, position: 20, ratio: 9, interval: null, metric: "service_ms.mean" },
      ],
      "ok_per_s",
      [10, 20, 30],
    );
    expect(data.values).toEqual([2, 3, null]);
    expect(data.intervals).toEqual([[1.9, 2.1], null, null]);
  });
});
