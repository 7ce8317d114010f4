// A finished run: the first screen, the numbers, and everything else folded.

import { el } from "../dom";
import type { Lang, Run } from "../model";
import { pick, say } from "../words";
import * as charts from "./charts";
import { block, command, folded, json, list, raw, samples, samplesTitle } from "./details";
import { head } from "./head";
import { hold, type Choices } from "./memory";
import { table } from "./table";

interface Kept {
  element: HTMLElement;
  destroy: () => void;
  /** Take up what was chosen on it before it was drawn anew, and note what is chosen now. */
  remember?: (choices: Choices) => void;
}

/**
 * The report of a run, drawn anew in another language, and when more is known of it: what was open
 * stays open, sorted and chosen, and the focus stays where it was.
 */
export class Report {
  readonly element = el("div", { class: "report" });
  private readonly open = new Set<string>();
  private readonly choices: Choices = new Map();
  private kept: Kept[] = [];

  constructor(
    private run: Run,
    private readonly choose: (lang: Lang) => void,
  ) {}

  /** Draw the run, or another state of it; without its head where that stands somewhere else. */
  draw(run: Run = this.run, isHeaded = true): void {
    const putBack = hold(this.element);
    this.destroy();
    this.run = run;
    const { view, result } = run;
    const { choices } = this;
    const keep: charts.Keep = (made: Kept) => {
      this.kept.push(made);
      made.remember?.(choices);
      return made.element;
    };
    this.element.replaceChildren(
      ...(isHeaded ? [head(run, this.choose)] : []),
      el(
        "main",
        {},
        charts.main(run, keep),
        ...view.tables
          .filter((found) => !found.folded)
          .map((found) => table(found, true, { choices })),
        charts.more(run, keep),
        ...view.lists.filter((found) => !found.folded).map((found) => list(found)),
        el("div", { class: "details" }, ...this.details(keep)),
      ),
      el("footer", {}, `torr ${result.torr ?? ""}`),
    );
    putBack();
  }

  /** Take every chart off the page. */
  destroy(): void {
    for (const made of this.kept) made.destroy();
    this.kept = [];
  }

  private details(keep: charts.Keep): (HTMLElement | null)[] {
    const { run, choices } = this;
    const { view, result } = run;
    const answers = result.levels.some((level) => level.samples?.length);
    const isOverTime = result.kind === "ladder" || result.kind === "compare";
    const hasIntervals = result.levels.some((level) => level.intervals?.length);
    const part = (id: string, title: string, fill: () => (Node | null)[], isThere = true) =>
      isThere ? folded(id, title, fill, this.open) : null;
    return [
      part(
        "distributions",
        say("details.distributions"),
        () => charts.distributions(view.distributions, keep, choices),
        view.distributions.length > 0,
      ),
      part(
        "time",
        say("details.time"),
        () => charts.overTime(run, keep),
        isOverTime && hasIntervals,
      ),
      part(
        "connections",
        say("time.connections"),
        () => charts.connections(run, keep),
        !isOverTime && charts.isConnected(run),
      ),
      ...view.tables
        .filter((found) => found.folded)
        .map((found, at) =>
          part(`table ${at}`, pick(found.title), () => [table(found, false, { choices })]),
        ),
      part("samples", samplesTitle(result.kind), () => samples(result.levels), answers),
      part(
        "logs",
        pick(view.blocks[0]?.title ?? ""),
        () => view.blocks.map(block),
        view.blocks.length > 0,
      ),
      ...view.flames.map((found, at) =>
        part(`flame ${at}`, pick(found.title), () => [charts.flame(found, keep)]),
      ),
      part("cpu", say("details.cpu"), () => charts.cpu(run, keep), charts.isWatched(run)),
      ...view.lists
        .filter((found) => found.folded)
        .map((found, at) => part(`list ${at}`, pick(found.title), () => [list(found, false)])),
      part(
        "environment",
        say("details.environment"),
        () => [json(result.environment)],
        Boolean(result.environment),
      ),
      part("command", say("details.command"), () => command(view), view.command !== ""),
      part("raw", say("details.raw"), () => raw(result)),
    ];
  }
}
