// Which charts a run has: those that answer its question, and those that open when somebody looks.

import { Rows } from "../charts/comparison";
import { diffSpecs } from "../charts/diff";
import { distributionSpec } from "../charts/distribution";
import { Flame } from "../charts/flame";
import { Strip } from "../charts/functions";
import { ladderSpecs, moreSpecs } from "../charts/ladder";
import { cpuSpec, lanes, memorySpec } from "../charts/lanes";
import { Plot, type Spec } from "../charts/plot";
import { connectionsSpec, timelineSpecs } from "../charts/timeline";
import { looks } from "../data/cores";
import { groups } from "../data/distribution";
import { spansFar } from "../data/ladder";
import { timeline } from "../data/timeline";
import { el } from "../dom";
import { count, ms } from "../format";
import type { Distribution, Run, Slo } from "../model";
import { pick, say } from "../words";
import type { Choices } from "./memory";

/** What takes things off the page again. */
export type Keep = (made: { element: HTMLElement; destroy: () => void }) => HTMLElement;

/** The charts of the first screen. */
export function main(run: Run, keep: Keep): HTMLElement {
  const made = el("figure", { class: "main", "aria-label": pick(run.view.sentence) });
  const { ladder, comparison, diff, functions } = run.view;
  if (functions) made.append(keep(new Strip(functions)));
  else if (comparison) made.append(keep(new Rows(comparison)));
  else if (diff) made.append(...spread(run, keep), ...plots(diffSpecs(diff), keep));
  else if (ladder) made.append(...plots(ladderSpecs(ladder, run.result.capacity?.usl), keep));
  else made.append(...ofRun(run, keep));
  return made;
}

/** Success and streams of a ladder, which follow its first two charts. */
export function more(run: Run, keep: Keep): HTMLElement | null {
  const { ladder } = run.view;
  return ladder ? el("figure", { class: "panels" }, ...plots(moreSpecs(ladder), keep)) : null;
}

/** Intervals of all levels over time, one level behind the other. */
export function overTime(run: Run, keep: Keep): HTMLElement[] {
  const found = timeline(run.result.levels, run.view.pooled);
  if (!found) return [];
  const connections = connectionsSpec(found);
  return plots(
    [...timelineSpecs(found, run.view.slos), ...(connections ? [connections] : [])],
    keep,
  );
}

/** Whether the intervals say how many connections were open. */
export function isConnected(run: Run): boolean {
  const intervals = run.result.levels.flatMap((level) => level.intervals ?? []);
  return intervals.some((interval) => interval.connections_open != null);
}

/** Connections of a single level, whose other intervals are on the first screen. */
export function connections(run: Run, keep: Keep): HTMLElement[] {
  const found = timeline(run.result.levels, run.view.pooled);
  const spec = found ? connectionsSpec(found) : null;
  return spec ? plots([spec], keep) : [];
}

/** How times are spread: a chart, and a choice of level or cell where there are several. */
export function distributions(
  curves: readonly Distribution[],
  keep: Keep,
  choices: Choices = new Map(),
): HTMLElement[] {
  const found = groups(curves);
  const box = el("div");
  const show = (name: string) => {
    box.replaceChildren(...ofGroup(found.get(name) ?? [], keep));
  };
  const names = [...found.keys()];
  const wanted = choices.get("distribution");
  const last = wanted !== undefined && found.has(wanted) ? wanted : names.at(-1);
  if (last === undefined) return [];
  show(last);
  if (names.length === 1) return [box];
  const choice = el(
    "select",
    { id: "group" },
    ...names.map((name) =>
      el("option", { value: name, selected: name === last }, named(name, curves)),
    ),
  );
  choice.addEventListener("change", () => {
    choices.set("distribution", choice.value);
    show(choice.value);
  });
  return [
    el("p", {}, el("label", { for: "group" }, `${say("distribution.choose")} `), choice),
    box,
  ];
}

/** Where the time of a profile went. */
export function flame(found: Run["view"]["flames"][number], keep: Keep): HTMLElement {
  const show = (weight: number) =>
    found.unit === "ns" ? ms(weight / 1e6) : `${count(weight)} ${found.unit}`;
  return keep(new Flame(found.tree, show, pick(found.title), found.beside));
}

/** CPU of target, torr and every core, and the target's memory; nothing where none was watched. */
export function cpu(run: Run, keep: Keep): HTMLElement[] {
  const found = looks(run.result.levels);
  if (!found) return [];
  const memory = memorySpec(found);
  return [...plots([cpuSpec(found), ...(memory ? [memory] : [])], keep), lanes(found)];
}

/** Whether there is anything to show of CPU. */
export function isWatched(run: Run): boolean {
  return looks(run.result.levels) !== null;
}

function ofRun(run: Run, keep: Keep): HTMLElement[] {
  const found = timeline(run.result.levels, run.view.pooled);
  const streams = run.view.distributions.filter((curve) =>
    ["ttft", "inter_chunk"].includes(curve.metric),
  );
  const isOne = run.result.levels.length === 1 && streams.length > 0;
  const spread = isOne
    ? [
        el(
          "div",
          { class: "panels" },
          ...plots(
            streams.map((curve) => of([curve], run.view.slos)),
            keep,
          ),
        ),
      ]
    : [];
  return [...spread, ...(found ? plots(timelineSpecs(found, run.view.slos), keep) : [])];
}

/** Two runs of one level are told apart by how their times are spread. */
function spread({ view }: Run, keep: Keep): HTMLElement[] {
  const isOne = new Set(view.distributions.map((curve) => curve.concurrency)).size === 1;
  return isOne ? ofGroup(view.distributions, keep) : [];
}

/** A comparison has a chart of its candidates; anything else one of each kind of time. */
function ofGroup(curves: readonly Distribution[], keep: Keep): HTMLElement[] {
  const metrics = [...new Set(curves.map((curve) => curve.metric))];
  const isCompared = curves.some((curve) => curve.candidate != null);
  const isStreamed = metrics.includes("ttft");
  if (!isCompared && !isStreamed) return plots([of(curves)], keep);
  return plots(
    metrics.map((metric) => of(curves.filter((curve) => curve.metric === metric))),
    keep,
  );
}

function of(curves: readonly Distribution[], slos: readonly Slo[] = []): Spec {
  const metrics = [...new Set(curves.map((curve) => curve.metric))];
  const values = curves.flatMap((curve) => curve.points.map(([, value]) => value));
  return distributionSpec(
    curves,
    say("distribution.title", { metric: metrics.join(", ") }),
    spansFar(values),
    slos,
  );
}

function named(name: string, curves: readonly Distribution[]): string {
  return curves.some((curve) => curve.cell != null) ? name : say("details.at", { n: name });
}

function plots(specs: readonly Spec[], keep: Keep): HTMLElement[] {
  return specs.map((spec) => keep(new Plot(spec)));
}
