import { describe, expect, it } from "vitest";

import { cut, layout } from "../src/charts/functions";
import { ROW, spaced, xOf } from "../src/charts/strip";

describe("rows of functions", () => {
  it("have names left of the axis where there is room", () => {
    const laid = layout(1200, ["test_cache.py::test_put  p99 <1ms"]);
    expect(laid.row).toBe(ROW);
    expect(laid.across.left).toBeGreaterThan(200);
    expect(laid.across.left + laid.across.width).toBeLessThan(1200);
  });

  it("give names less than half of the width, however long these are", () => {
    const laid = layout(1000, ["x".repeat(500)]);
    expect(laid.across.left).toBe(450);
    expect(laid.letters).toBeLessThan(450 / 7);
  });

  it("have names above the axis where it is narrow", () => {
    const laid = layout(340, ["test_cache.py::test_put  p99 <1ms"]);
    expect(laid.row).toBeGreaterThan(ROW);
    expect(laid.across.left).toBeLessThan(30);
    expect(laid.across.width).toBeGreaterThan(200);
  });
});

describe("a name", () => {
  it("loses its beginning, since tests differ in their ends", () => {
    expect(cut("test_cache.py::test_put", 9)).toBe("…test_put");
    expect(cut("short", 9)).toBe("short");
  });
});

describe("an axis", () => {
  const across = { left: 100, width: 400 };

  it("goes from its lower to its upper limit", () => {
    expect([-2, 0, 2].map((at) => xOf(at, [-2, 2], across))).toEqual([100, 300, 500]);
    expect(xOf(1, [1, 1], across)).toBe(100);
  });

  it("leaves out ticks that have no room, never the first", () => {
    const marks = [300, 310, 100, 320, 500].map((at) => ({ at }));
    expect(spaced(marks).map(({ at }) => at)).toEqual([300, 100, 500]);
  });
});
