// Legends of charts: the name of each line beside a sample of the line.

import { el, svg } from "../dom";
import type { Line, Spec } from "./plot";

/** Return the legend; null if the title already names the only line. */
export function legend({ lines, isNamed }: Spec): HTMLElement | null {
  const labelled = lines.filter((line) => line.label);
  if (labelled.length < (isNamed ? 1 : 2)) return null;
  return legendList(labelled.map((line) => [swatch(line), line.label]));
}

/** Return a legend of symbols and their meanings. */
export function legendList(items: readonly [SVGElement | null, string][]): HTMLElement {
  return el("ul", { class: "legend" }, ...items.map((item) => el("li", {}, ...item)));
}

function swatch(line: Line): SVGElement {
  const paint = { stroke: `var(--${line.colour})`, "stroke-width": 2 };
  const parts: SVGElement[] = [];
  if (line.kind === "bars") {
    parts.push(svg("rect", { x: 4, y: 1, width: 14, height: 10, fill: `var(--${line.colour})` }));
  } else {
    const dash = line.dash?.join(" ");
    if (line.kind !== "marks") {
      parts.push(svg("line", { x1: 0, y1: 6, x2: 22, y2: 6, "stroke-dasharray": dash, ...paint }));
    }
    if (line.marker) parts.push(marker(line));
  }
  return svg(
    "svg",
    { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" },
    ...parts,
  );
}

function marker(line: Line): SVGElement {
  const hollow = line.kind === "marks" && line.hollow;
  const fill = hollow ? "var(--background)" : `var(--${line.colour})`;
  const edge = { fill, stroke: `var(--${line.colour})`, "stroke-width": 1.5 };
  if (line.marker === "square")
    return svg("rect", { x: 7.5, y: 2.5, width: 7, height: 7, ...edge });
  if (line.marker === "triangle") return svg("path", { d: "M11 1 L15.5 10 L6.5 10 Z", ...edge });
  return svg("circle", { cx: 11, cy: 6, r: line.marker === "dot" ? 2 : 4, ...edge });
}
