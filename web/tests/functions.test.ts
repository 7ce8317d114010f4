import { describe, expect, it } from "vitest";

import { shortened, layout } from "../src/charts/functions";
import { ROW, fittingTicks, xOf } from "../src/charts/rows";

describe("rows of functions", () => {
  it("have names left of the axis if there is room", () => {
    const sizes = layout(1200, ["test_cache.py::test_put  p99 <1ms"]);
    expect(sizes.row).toBe(ROW);
    expect(sizes.extent.left).toBeGreaterThan(200);
    expect(sizes.extent.left + sizes.extent.width).toBeLessThan(1200);
  });

  it("give long names less than half of the width", () => {
    const sizes = layout(1000, ["x".repeat(500)]);
    expect(sizes.extent.left).toBe(450);
    expect(sizes.letters).toBeLessThan(450 / 7);
  });

  it("have names above the axis in a narrow window", () => {
    const sizes = layout(340, ["test_cache.py::test_put  p99 <1ms"]);
    expect(sizes.row).toBeGreaterThan(ROW);
    expect(sizes.extent.left).toBeLessThan(30);
    expect(sizes.extent.width).toBeGreaterThan(200);
  });
});

describe("a name", () => {
  it("is cut at its beginning", () => {
    expect(shortened("test_cache.py::test_put", 9)).toBe("…test_put");
    expect(shortened("short", 9)).toBe("short");
  });
});

describe("an axis", () => {
  const across = { left: 100, width: 400 };

  it("goes from its lower to its upper limit", () => {
    expect([-2, 0, 2].map((at) => xOf(at, [-2, 2], across))).toEqual([100, 300, 500]);
    expect(xOf(1, [1, 1], across)).toBe(100);
  });

  it("leaves out ticks without room, but not the first", () => {
    const marks = [300, 310, 100, 320, 500].map((at) => ({ at }));
    expect(fittingTicks(marks).map(({ at }) => at)).toEqual([300, 100, 500]);
  });
});
