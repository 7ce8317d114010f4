import { describe, expect, it } from "vitest";

import { clock, count, factor, ms, percent, points, rate, compact, utc } from "../src/format";
import { logTicks, range, roundedUp, union } from "../src/charts/range";
import { fittingLabels } from "../src/charts/axes";

describe("numbers", () => {
  it.each([
    [ms(0.00042), "420 ns"],
    [ms(0.42), "0.420 ms"],
    [ms(12.34), "12.3 ms"],
    [ms(1780), "1,780 ms"],
    [ms(12_340), "12.3 s"],
    [ms(null), "–"],
    [rate(47_812.4), "47,812"],
    [rate(21.5), "21.5"],
    [rate(20), "20"],
    [percent(100), "100 %"],
    [percent(99.999), ">99.99 %"],
    [percent(0.001), "<0.01 %"],
    [factor(15.703), "15.70"],
    [factor(0.1), "0.10"],
    [factor(0.0347), "0.035"],
    [factor(0), "0.00"],
    [points(40.04), "+40"],
    [points(-3.25), "−3.3"],
    [points(-0.04), "0"],
    [count(1600), "1,600"],
    [compact(0.25), "0.25"],
    [compact(5000), "5,000"],
    [compact(12_500), "12.5k"],
    [compact(2_500_000), "2.5M"],
    [clock(4), "4 s"],
    [clock(65), "1:05"],
    [clock(3600), "1:00:00"],
  ])("are formatted as in torr's tables: %s", (text, expected) => {
    expect(text).toBe(expected);
  });

  it("give a date once if a run begins and ends on it", () => {
    const began = "2026-01-31T23:59:00.000Z";
    expect(utc(began, "2026-01-31T23:59:30.000Z")).toBe("2026-01-31 23:59:00 – 23:59:30 UTC");
    expect(utc(began, "2026-02-01T00:01:00Z")).toBe(
      "2026-01-31 23:59:00 – 2026-02-01 00:01:00 UTC",
    );
    expect(utc(began, null)).toBe("2026-01-31 23:59:00 UTC");
  });
});

describe("axes", () => {
  it("start at zero on linear scales", () => {
    expect(range("zero", [5, null, 20], { headroom: 1.5 })).toEqual([0, 30]);
    expect(range("zero", [0, null], {})).toEqual([0, 1]);
  });

  it("include every value on a logarithmic scale", () => {
    const [low, high] = range("log", [1, 1000, 0, null], { headroom: 1.1 });
    expect(low).toBeLessThan(1);
    expect(low).toBeGreaterThan(0);
    expect(high).toBeGreaterThan(1000);
    expect(range("log", [], {})).toEqual([1, 10]);
  });

  it("have round ticks on a logarithmic scale", () => {
    expect(logTicks(3, 60_000)).toEqual([10, 100, 1000, 10_000]);
    expect(logTicks(3, 60)).toEqual([5, 10, 20, 50]);
    expect(logTicks(0.95, 1.3)).toEqual([1, 1.2]);
  });

  it("leave out labels without room, but not the first and the last", () => {
    const ticks = [0, 10, 60, 100].map((at) => ({ at, words: `${at}` }));
    expect(fittingLabels(ticks)).toEqual(["0", "", "60", "100"]);
  });
});

describe("axes of a live run", () => {
  it("never shrink", () => {
    expect(union(null, [0, 5])).toEqual([0, 5]);
    expect(union([0, 5], [0, 2])).toEqual([0, 5]);
    expect(union([1, 5], [0.5, 9])).toEqual([0.5, 9]);
  });

  it("grow in steps", () => {
    expect([0.1, 1, 1.5, 5, 5.1, 99, 100, 101].map(roundedUp)).toEqual([
      1, 1, 2, 5, 10, 100, 100, 200,
    ]);
  });
});
