// A uPlot chart as vectors. uPlot draws on a canvas that it creates, with the browser's Path2D:
// while a chart is drawn here, both are replaced by objects that record the drawing.

import type uPlot from "uplot";

import { VectorContext, VectorPath, type Mark } from "./vector";

/** Return the drawing of the chart that `make` creates, in pixels of its canvas. */
export function marksOf(make: () => uPlot): Mark[] {
  const scratch = document.createElement("canvas").getContext("2d");
  const context = new VectorContext((text, font) => {
    if (!scratch) return 0;
    scratch.font = font;
    return scratch.measureText(text).width;
  });
  return withProperty(globalThis, "Path2D", VectorPath, () =>
    withProperty(
      HTMLCanvasElement.prototype,
      "getContext",
      () => context,
      () => {
        const chart = make();
        // `batch` draws now; otherwise uPlot would draw later, on the real canvas.
        chart.batch(() => undefined);
        const { marks } = context;
        chart.destroy();
        return marks;
      },
    ),
  );
}

/** Run an action while a property has another value. */
function withProperty<Result>(
  owner: object,
  name: string,
  value: unknown,
  action: () => Result,
): Result {
  const original = Object.getOwnPropertyDescriptor(owner, name) ?? {};
  Object.defineProperty(owner, name, { ...original, value });
  try {
    return action();
  } finally {
    Object.defineProperty(owner, name, original);
  }
}
