// A chart of uPlot as vectors. uPlot draws on the canvas that it makes, with paths of the browser's:
// while a chart is made here, it gets a context and paths that keep what is drawn.

import type uPlot from "uplot";

import { VectorContext, VectorPath, type Mark } from "./vector";

/** What a chart draws, in pixels of its canvas. `make` makes the chart outside of the page. */
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
        // Without this it would be drawn later, on no canvas.
        chart.batch(() => undefined);
        const { marks } = context;
        chart.destroy();
        return marks;
      },
    ),
  );
}

/** Do something while a property has another value. */
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
