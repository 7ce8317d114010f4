import { describe, expect, it } from "vitest";

import { neighbour } from "../src/charts/flame";
import { boxes, difference, height, matchedShare, moveOf, type FlameNode } from "../src/data/flame";

const log: FlameNode = { name: "log.Print", weight: 45 };
const serve: FlameNode = { name: "serve", weight: 55, below: [log] };
const gc: FlameNode = { name: "gc", weight: 5 };
const main: FlameNode = { name: "main", weight: 60, below: [serve, gc] };

describe("boxes", () => {
  it("are as wide as their weight, above their callers", () => {
    const all = boxes(main, 0).map(({ node, depth, from, width }) => [
      node.name,
      depth,
      Number(from.toFixed(3)),
      Number(width.toFixed(3)),
    ]);
    expect(all).toEqual([
      ["main", 0, 0, 1],
      ["serve", 1, 0, 0.917],
      ["log.Print", 2, 0, 0.75],
      ["gc", 1, 0.917, 0.083],
    ]);
    expect(height(boxes(main, 0))).toBe(3);
  });

  it("are left out below a width, with their callees", () => {
    expect(boxes(main, 0.1).map((box) => box.node.name)).toEqual(["main", "serve", "log.Print"]);
    expect(boxes(main, 2)).toEqual([]);
  });

  it("of a subtree fill the width", () => {
    expect(boxes(serve, 0).map((box) => box.width)).toEqual([1, 45 / 55]);
  });

  it("without weight are one box", () => {
    expect(boxes({ name: "all", weight: 0 }, 0)).toHaveLength(1);
  });
});

describe("a search", () => {
  it("counts a match once, with its callees", () => {
    expect(matchedShare(main, "e")).toBeCloseTo(55 / 60);
    expect(matchedShare(main, "LOG")).toBeCloseTo(45 / 60);
    expect(matchedShare(main, "none")).toBe(0);
    expect(matchedShare(main, "")).toBe(0);
  });
});

describe("a box compared with another profile", () => {
  const whole: FlameNode = { name: "all", weight: 200, was: 1 };
  const of = (weight: number, was?: number): FlameNode => ({ name: "f", weight, was });

  it("has changed by the difference of its shares", () => {
    expect(difference(of(90, 0.05), whole)).toBeCloseTo(0.4);
    expect(difference(of(90), whole)).toBeNull();
    expect(difference(of(0, 0.5), { name: "all", weight: 0, was: 1 })).toBeNull();
  });

  it.each([
    [90, 0.05, "more"],
    [10, 0.5, "less"],
    [100, 0.5, "same"],
    [100.8, 0.5, "same"],
    [1, 0, "more"],
    [100, undefined, "same"],
  ])("of %d of 200, %d before, takes %s", (weight, was, moved) => {
    expect(moveOf(of(weight, was), whole)).toBe(moved);
  });
});

describe("arrow keys", () => {
  const all = boxes(main, 0);
  const to = (from: string, key: string) => {
    const at = all.findIndex((box) => box.node.name === from);
    return all[neighbour(all, at, key)]?.node.name;
  };

  it("lead to callers, callees and neighbours", () => {
    expect(to("main", "ArrowDown")).toBe("serve");
    expect(to("log.Print", "ArrowUp")).toBe("serve");
    expect(to("serve", "ArrowRight")).toBe("gc");
    expect(to("gc", "ArrowLeft")).toBe("serve");
    expect(to("main", "ArrowUp")).toBeUndefined();
    expect(to("main", "x")).toBeUndefined();
  });
});
