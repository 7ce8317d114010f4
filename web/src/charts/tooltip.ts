// The tooltip of a chart: exact values of every line at the cursor.

import type uPlot from "uplot";

import { el } from "../dom";
import type { Spec } from "./plot";

/** A box that follows the cursor; values reached by keyboard are announced to screen readers. */
export class Tooltip {
  readonly announcement = el("p", {
    class: "visually-hidden",
    role: "status",
    "aria-live": "polite",
  });
  private readonly box = el("div", { class: "tooltip", "aria-hidden": "true" });

  /** Move to the cursor of a chart, or hide if the chart has none. */
  show(u: uPlot, spec: Spec): void {
    const at = u.cursor.idx;
    const left = u.cursor.left ?? -1;
    const lines = at == null || left < 0 ? [] : rows(spec, at);
    this.box.hidden = !lines.length;
    if (at == null || !lines.length) return;
    if (this.box.parentElement !== u.over) u.over.append(this.box);
    this.box.replaceChildren(el("strong", {}, spec.heading(at)), ...lines);
    const isRight = left > u.over.clientWidth / 2;
    this.box.style.left = isRight ? "" : `${left + 12}px`;
    this.box.style.right = isRight ? `${u.over.clientWidth - left + 12}px` : "";
    this.box.style.top = "4px";
  }

  /** Announce the tooltip's text to screen readers. */
  announce(): void {
    this.announcement.textContent = [...this.box.children]
      .map((child) => child.textContent)
      .join(", ");
  }
}

function rows(spec: Spec, at: number): HTMLElement[] {
  const elements: HTMLElement[] = [];
  for (const line of spec.lines) {
    const value = (line.tooltipValues ?? line.values)[at];
    if (value == null || !line.label) continue;
    elements.push(el("div", {}, el("span", {}, line.label), " ", el("b", {}, line.show(value))));
  }
  return elements;
}
