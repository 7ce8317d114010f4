// The report of a run: charts of the first screen, tables, and sections that open.

import { el } from "../dom";
import type { Lang, Run } from "../model";
import { localized, translate } from "../translate";
import * as charts from "./charts";
import { block, command, folded, json, list, raw, samples, samplesTitle } from "./details";
import { head } from "./head";
import { holdViewState, type Choices } from "./viewstate";
import { table } from "./table";

interface Part {
  element: HTMLElement;
  destroy: () => void;
  /** Apply the choices made before the part was drawn again, and record later ones. */
  useChoices?: (choices: Choices) => void;
}

/**
 * Draws the report, again in another language or with more levels: open sections, sort orders,
 * choices and the keyboard's focus stay.
 */
export class Report {
  readonly element = el("div", { class: "report" });
  private readonly open = new Set<string>();
  private readonly choices: Choices = new Map();
  private parts: Part[] = [];

  constructor(
    private run: Run,
    private readonly choose: (lang: Lang) => void,
  ) {
    // The setting that a tuning recommends is what its report is for.
    if (run.result.kind === "tune") this.open.add("logs");
  }

  /** Draw the run, or a newer state of it; the live page has a header of its own. */
  draw(run: Run = this.run, isHeaded = true): void {
    const restore = holdViewState(this.element);
    this.destroy();
    this.run = run;
    const { view, result } = run;
    const { choices } = this;
    const register: charts.Register = (part: Part) => {
      this.parts.push(part);
      part.useChoices?.(choices);
      return part.element;
    };
    this.element.replaceChildren(
      ...(isHeaded ? [head(run, this.choose)] : []),
      el(
        "main",
        {},
        charts.main(run, register),
        ...view.tables
          .filter((content) => !content.folded)
          .map((content) => table(content, true, { choices })),
        charts.more(run, register),
        ...view.lists.filter((content) => !content.folded).map((content) => list(content)),
        el("div", { class: "details" }, ...this.details(register)),
      ),
      el("footer", {}, `torr ${result.torr ?? ""}`),
    );
    restore();
  }

  /** Remove every chart from the page. */
  destroy(): void {
    for (const part of this.parts) part.destroy();
    this.parts = [];
  }

  private details(register: charts.Register): (HTMLElement | null)[] {
    const { run, choices } = this;
    const { view, result } = run;
    const hasSamples = result.levels.some((level) => level.samples?.length);
    const isOverTime = ["ladder", "compare", "tune"].includes(result.kind);
    const hasIntervals = result.levels.some((level) => level.intervals?.length);
    const part = (id: string, title: string, fill: () => (Node | null)[], isShown = true) =>
      isShown ? folded(id, title, fill, this.open) : null;
    return [
      part(
        "distributions",
        translate("details.distributions"),
        () => charts.distributions(view.distributions, register, choices),
        view.distributions.length > 0,
      ),
      part(
        "time",
        translate("details.time"),
        () => charts.overTime(run, register),
        isOverTime && hasIntervals,
      ),
      part(
        "connections",
        translate("time.connections"),
        () => charts.connections(run, register),
        !isOverTime && charts.isConnected(run),
      ),
      ...view.tables
        .filter((content) => content.folded)
        .map((content, at) =>
          part(`table ${at}`, localized(content.title), () => [table(content, false, { choices })]),
        ),
      part("samples", samplesTitle(result.kind), () => samples(result.levels), hasSamples),
      part(
        "logs",
        localized(view.blocks[0]?.title ?? ""),
        () => view.blocks.map(block),
        view.blocks.length > 0,
      ),
      ...view.flames.map((profile, at) =>
        part(`flame ${at}`, localized(profile.title), () => [charts.flameGraph(profile, register)]),
      ),
      part("cpu", translate("details.cpu"), () => charts.cpu(run, register), charts.isWatched(run)),
      ...view.lists
        .filter((content) => content.folded)
        .map((content, at) =>
          part(`list ${at}`, localized(content.title), () => [list(content, false)]),
        ),
      part(
        "environment",
        translate("details.environment"),
        () => [json(result.environment)],
        Boolean(result.environment),
      ),
      part("command", translate("details.command"), () => command(view), view.command !== ""),
      part("raw", translate("details.raw"), () => raw(result)),
    ];
  }
}
