import { describe, expect, it } from "vitest";

import { fileName } from "../src/picture/name";
import { painted, VectorContext, VectorPath } from "../src/picture/vector";

function context(): VectorContext {
  return new VectorContext((text) => 7 * text.length);
}

function line(of: VectorContext, ...[first, ...others]: [number, number][]): void {
  of.beginPath();
  of.moveTo(...(first ?? [0, 0]));
  for (const point of others) of.lineTo(...point);
}

describe("a path", () => {
  it("is written with as many digits as are seen", () => {
    const path = new VectorPath();
    path.moveTo(1 / 3, 2);
    path.lineTo(10, 0.005);
    path.closePath();
    expect(path.d).toBe("M0.33 2L10 0.01Z");
  });

  it("begins where its first line leads to", () => {
    const path = new VectorPath();
    path.lineTo(1, 2);
    path.lineTo(3, 4);
    expect(path.d).toBe("M1 2L3 4");
  });

  it("goes on from a copy, and leaves the other as it was", () => {
    const path = new VectorPath();
    path.rect(0, 0, 4, 2);
    const copy = new VectorPath(path);
    copy.lineTo(9, 9);
    expect(path.d).toBe("M0 0h4v2h-4Z");
    expect(copy.d).toBe("M0 0h4v2h-4ZL9 9");
  });

  it("has a circle as two halves", () => {
    const path = new VectorPath();
    path.arc(10, 5, 4);
    expect(path.d).toBe("M6 5a4 4 0 1 1 8 0a4 4 0 1 1 -8 0Z");
  });
});

describe("what is drawn", () => {
  it("has the colours, the width and the dashes that were set", () => {
    const of = context();
    of.strokeStyle = "#0072b2";
    of.lineWidth = 2;
    of.lineJoin = "round";
    of.setLineDash([8, 4]);
    line(of, [0, 0], [5, 5]);
    of.stroke();
    expect(of.marks).toEqual([
      {
        tag: "path",
        attributes: {
          d: "M0 0L5 5",
          fill: "none",
          stroke: "#0072b2",
          "stroke-width": 2,
          "stroke-linejoin": "round",
          "stroke-dasharray": "8 4",
        },
      },
    ]);
  });

  it("takes a path from outside", () => {
    const of = context();
    const path = new VectorPath();
    path.rect(1, 2, 3, 4);
    of.fillStyle = "#ff0000";
    of.fill(path);
    of.stroke(path);
    expect(of.marks.map(({ attributes }) => attributes["d"])).toEqual([path.d, path.d]);
  });

  it("is nothing where a path is empty", () => {
    const of = context();
    of.beginPath();
    of.stroke();
    of.fill();
    expect(of.marks).toEqual([]);
  });

  it("is gone when the canvas is cleared", () => {
    const of = context();
    of.fillRect(0, 0, 5, 5);
    of.clearRect();
    expect(of.marks).toEqual([]);
  });

  it("has again what held before, after a restore", () => {
    const of = context();
    of.fillStyle = "#111111";
    of.save();
    of.fillStyle = "#222222";
    of.translate(0.5, 0.5);
    of.setLineDash([1]);
    of.fillRect(0, 0, 1, 1);
    of.restore();
    of.fillRect(0, 0, 1, 1);
    line(of, [0, 0], [1, 1]);
    of.stroke();
    const [inner, outer, stroke] = of.marks.map(({ attributes }) => attributes);
    expect(inner).toMatchObject({ fill: "#222222", transform: "translate(0.5 0.5)" });
    expect(outer).toEqual({ d: "M0 0h1v1h-1Z", fill: "#111111" });
    expect(stroke).not.toHaveProperty("stroke-dasharray");
  });
});

describe("a clip", () => {
  it("holds until it is taken back, and lies in the clip before it", () => {
    const of = context();
    of.save();
    of.beginPath();
    of.rect(0, 0, 10, 10);
    of.clip();
    of.beginPath();
    of.rect(5, 5, 10, 10);
    of.clip();
    of.fillRect(0, 0, 20, 20);
    of.restore();
    of.fillRect(0, 0, 20, 20);
    const [outer, inner, clipped, free] = of.marks;
    expect(outer).toMatchObject({ tag: "clipPath", attributes: { id: "clip1" } });
    expect(inner?.attributes).toEqual({ id: "clip2", "clip-path": "url(#clip1)" });
    expect(clipped?.attributes["clip-path"]).toBe("url(#clip2)");
    expect(free?.attributes).not.toHaveProperty("clip-path");
  });

  it("that comes again is written once", () => {
    const of = context();
    for (let turn = 0; turn < 3; turn += 1) {
      of.save();
      of.beginPath();
      of.rect(0, 0, 10, 10);
      of.clip();
      of.fillRect(turn, 0, 1, 1);
      of.restore();
    }
    expect(of.marks.filter(({ tag }) => tag === "clipPath")).toHaveLength(1);
  });
});

describe("text", () => {
  it("has its font by its parts, and stands at its letters' line", () => {
    const of = context();
    of.font = "600 10px system-ui, 'Noto Sans'";
    of.textAlign = "right";
    of.textBaseline = "middle";
    of.fillStyle = "#5a626d80";
    of.fillText("peak: 200", 40, 20);
    expect(of.marks).toEqual([
      {
        tag: "text",
        text: "peak: 200",
        attributes: {
          x: 40,
          y: 23.5,
          "font-size": 10,
          "font-weight": "600",
          "font-family": "system-ui, 'Noto Sans'",
          "text-anchor": "end",
          fill: "#5a626d",
          "fill-opacity": 0.5,
        },
      },
    ]);
  });

  it("is as wide as it was measured", () => {
    expect(context().measureText("four")).toEqual({ width: 28 });
  });
});

describe("a colour", () => {
  it("has its opacity apart", () => {
    expect(painted("fill", "#9cc9e48c")).toEqual({ fill: "#9cc9e4", "fill-opacity": 0.55 });
    expect(painted("stroke", "#9cc9e4")).toEqual({ stroke: "#9cc9e4" });
  });
});

describe("the name of a chart's file", () => {
  it.each([
    ["quiet · torr ladder", "ok requests/s", "quiet-ok-requests-s"],
    ["a · b · torr run", "errors/s, by class", "a-·-b-errors-s-by-class"],
    ["torr", "response time, ms", "torr-response-time-ms"],
    ["压测 · torr run", "响应时间（毫秒）", "压测-响应时间-毫秒"],
    ["../etc/x · torr run", "ok", "..-etc-x-ok"],
  ])("%s, %s", (page, title, name) => {
    expect(fileName(page, title)).toBe(name);
  });
});
