import { describe, expect, it } from "vitest";

import { fileName } from "../src/picture/name";
import { paintAttributes, VectorContext, VectorPath } from "../src/picture/vector";

function context(): VectorContext {
  return new VectorContext((text) => 7 * text.length);
}

function line(canvas: VectorContext, ...[first, ...others]: [number, number][]): void {
  canvas.beginPath();
  canvas.moveTo(...(first ?? [0, 0]));
  for (const point of others) canvas.lineTo(...point);
}

describe("a path", () => {
  it("is written with two decimals", () => {
    const path = new VectorPath();
    path.moveTo(1 / 3, 2);
    path.lineTo(10, 0.005);
    path.closePath();
    expect(path.d).toBe("M0.33 2L10 0.01Z");
  });

  it("begins at the end of its first line", () => {
    const path = new VectorPath();
    path.lineTo(1, 2);
    path.lineTo(3, 4);
    expect(path.d).toBe("M1 2L3 4");
  });

  it("continues a copy, and leaves the original unchanged", () => {
    const path = new VectorPath();
    path.rect(0, 0, 4, 2);
    const copy = new VectorPath(path);
    copy.lineTo(9, 9);
    expect(path.d).toBe("M0 0h4v2h-4Z");
    expect(copy.d).toBe("M0 0h4v2h-4ZL9 9");
  });

  it("contains a circle as two halves", () => {
    const path = new VectorPath();
    path.arc(10, 5, 4);
    expect(path.d).toBe("M6 5a4 4 0 1 1 8 0a4 4 0 1 1 -8 0Z");
  });
});

describe("a drawing", () => {
  it("has the colours, the width and the dashes of the context", () => {
    const canvas = context();
    canvas.strokeStyle = "#0072b2";
    canvas.lineWidth = 2;
    canvas.lineJoin = "round";
    canvas.setLineDash([8, 4]);
    line(canvas, [0, 0], [5, 5]);
    canvas.stroke();
    expect(canvas.marks).toEqual([
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

  it("accepts a path as an argument", () => {
    const canvas = context();
    const path = new VectorPath();
    path.rect(1, 2, 3, 4);
    canvas.fillStyle = "#ff0000";
    canvas.fill(path);
    canvas.stroke(path);
    expect(canvas.marks.map(({ attributes }) => attributes["d"])).toEqual([path.d, path.d]);
  });

  it("is empty for an empty path", () => {
    const canvas = context();
    canvas.beginPath();
    canvas.stroke();
    canvas.fill();
    expect(canvas.marks).toEqual([]);
  });

  it("is removed when the canvas is cleared", () => {
    const canvas = context();
    canvas.fillRect(0, 0, 5, 5);
    canvas.clearRect();
    expect(canvas.marks).toEqual([]);
  });

  it("has the earlier state after a restore", () => {
    const canvas = context();
    canvas.fillStyle = "#111111";
    canvas.save();
    canvas.fillStyle = "#222222";
    canvas.translate(0.5, 0.5);
    canvas.setLineDash([1]);
    canvas.fillRect(0, 0, 1, 1);
    canvas.restore();
    canvas.fillRect(0, 0, 1, 1);
    line(canvas, [0, 0], [1, 1]);
    canvas.stroke();
    const [inner, outer, stroke] = canvas.marks.map(({ attributes }) => attributes);
    expect(inner).toMatchObject({ fill: "#222222", transform: "translate(0.5 0.5)" });
    expect(outer).toEqual({ d: "M0 0h1v1h-1Z", fill: "#111111" });
    expect(stroke).not.toHaveProperty("stroke-dasharray");
  });
});

describe("a clip", () => {
  it("applies until it is restored, within the clip before it", () => {
    const canvas = context();
    canvas.save();
    canvas.beginPath();
    canvas.rect(0, 0, 10, 10);
    canvas.clip();
    canvas.beginPath();
    canvas.rect(5, 5, 10, 10);
    canvas.clip();
    canvas.fillRect(0, 0, 20, 20);
    canvas.restore();
    canvas.fillRect(0, 0, 20, 20);
    const [outer, inner, clipped, free] = canvas.marks;
    expect(outer).toMatchObject({ tag: "clipPath", attributes: { id: "clip1" } });
    expect(inner?.attributes).toEqual({ id: "clip2", "clip-path": "url(#clip1)" });
    expect(clipped?.attributes["clip-path"]).toBe("url(#clip2)");
    expect(free?.attributes).not.toHaveProperty("clip-path");
  });

  it("that is repeated is written once", () => {
    const canvas = context();
    for (let turn = 0; turn < 3; turn += 1) {
      canvas.save();
      canvas.beginPath();
      canvas.rect(0, 0, 10, 10);
      canvas.clip();
      canvas.fillRect(turn, 0, 1, 1);
      canvas.restore();
    }
    expect(canvas.marks.filter(({ tag }) => tag === "clipPath")).toHaveLength(1);
  });
});

describe("text", () => {
  it("has the parts of its font, and the position of its baseline", () => {
    const canvas = context();
    canvas.font = "600 10px system-ui, 'Noto Sans'";
    canvas.textAlign = "right";
    canvas.textBaseline = "middle";
    canvas.fillStyle = "#5a626d80";
    canvas.fillText("peak: 200", 40, 20);
    expect(canvas.marks).toEqual([
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

  it("has the measured width", () => {
    expect(context().measureText("four")).toEqual({ width: 28 });
  });
});

describe("a colour", () => {
  it("has its opacity as an attribute of its own", () => {
    expect(paintAttributes("fill", "#9cc9e48c")).toEqual({ fill: "#9cc9e4", "fill-opacity": 0.55 });
    expect(paintAttributes("stroke", "#9cc9e4")).toEqual({ stroke: "#9cc9e4" });
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
