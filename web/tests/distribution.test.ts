import { describe, expect, it } from "vitest";

import { styleOf } from "../src/charts/distribution";
import { columns, groups, percentileName, percentilePosition } from "../src/data/distribution";
import type { Distribution } from "../src/model";

const curve = (more: Partial<Distribution>): Distribution => ({
  candidate: null,
  cell: null,
  level: 10,
  metric: "response",
  of_streams: false,
  n: 1000,
  doubtful: false,
  points: [],
  ...more,
});

describe("percentiles", () => {
  it("have one unit of the axis for each factor of ten in the remaining share", () => {
    expect(percentilePosition(0)).toBeCloseTo(0);
    expect(percentilePosition(0.9)).toBeCloseTo(1);
    expect(percentilePosition(0.99)).toBeCloseTo(2);
  });

  it.each([
    [0.5, "p50"],
    [0.75, "p75"],
    [0.9, "p90"],
    [0.99, "p99"],
    [0.999, "p99.9"],
    [0.9999, "p99.99"],
    [0.99999, "p99.999"],
  ])("have names: %f", (share, name) => {
    expect(percentileName(percentilePosition(share))).toBe(name);
  });
});

describe("curves", () => {
  it("share an axis, each up to its last value", () => {
    const curves = columns([
      curve({ points: [[0, 1], [0.5, 2]] }), // prettier-ignore
      curve({ points: [[0, 3], [0.5, 4], [0.9, 5]] }), // prettier-ignore
    ]);
    expect(curves.xs).toHaveLength(3);
    expect(curves.values).toEqual([
      [1, 2, null],
      [3, 4, 5],
    ]);
  });

  it("are grouped by level, or by cell", () => {
    const curves = groups([curve({}), curve({ metric: "ttfb" }), curve({ level: 20 })]);
    expect([...curves].map(([name, of]) => [name, of.length])).toEqual([
      ["10", 2],
      ["20", 1],
    ]);
    expect([...groups([curve({ cell: "4 processes" })]).keys()]).toEqual(["4 processes"]);
  });

  it("have looks of their own", () => {
    const looks = Array.from({ length: 25 }, (_, at) => JSON.stringify(styleOf(at)));
    expect(new Set(looks).size).toBe(25);
  });
});
