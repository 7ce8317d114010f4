// Selects the charts of a run: those of the first screen, and those in details that open.

import { ComparisonChart } from "../charts/comparison";
import { diffSpecs } from "../charts/diff";
import { distributionSpec } from "../charts/distribution";
import { FlameGraph } from "../charts/flame";
import { FunctionsChart } from "../charts/functions";
import { ladderSpecs, moreSpecs } from "../charts/ladder";
import { cpuSpec, coresChart, memorySpec } from "../charts/cpu";
import { Plot, type Spec } from "../charts/plot";
import { SearchChart } from "../charts/search";
import { servingSpecs } from "../charts/serving";
import { connectionsSpec, timelineSpecs } from "../charts/timeline";
import { cpuSamples } from "../data/cpu";
import { groups } from "../data/distribution";
import { spansFar } from "../data/ladder";
import { servingTimes } from "../data/serving";
import { timeline, type Timeline } from "../data/timeline";
import { el, select } from "../dom";
import { count, ms } from "../format";
import type { Distribution, Run, Slo, View } from "../model";
import { localized, translate } from "../translate";
import type { Choices } from "./viewstate";

/** Registers a chart to be destroyed with the report, and returns its element. */
export type Register = (figure: { element: HTMLElement; destroy: () => void }) => HTMLElement;

/** Return the charts of the first screen. */
export function main(run: Run, register: Register): HTMLElement {
  const figure = el("figure", { class: "main", "aria-label": localized(run.view.sentence) });
  const { ladder, comparison, search, diff, functions } = run.view;
  if (functions) figure.append(register(new FunctionsChart(functions)));
  else if (comparison) figure.append(register(new ComparisonChart(comparison)));
  else if (search) figure.append(register(new SearchChart(search)));
  else if (diff) figure.append(...spread(run, register), ...plots(diffSpecs(diff), register));
  else if (ladder) figure.append(...plots(ladderSpecs(ladder, run.result.capacity?.usl), register));
  else figure.append(...runCharts(run, register));
  return figure;
}

/** Return the charts of success rate and streams of a ladder, or that of a search. */
export function more(run: Run, register: Register): HTMLElement | null {
  const { comparison, ladder, search } = run.view;
  if (comparison && search)
    return el("figure", { class: "search" }, register(new SearchChart(search)));
  return ladder ? el("figure", { class: "panels" }, ...plots(moreSpecs(ladder), register)) : null;
}

/** Return the charts of all levels over time. */
export function overTime(run: Run, register: Register): HTMLElement[] {
  const data = timeline(run.result.levels, run.view.pooled);
  if (!data) return [];
  const connections = connectionsSpec(data);
  return plots([...timed(run, data), ...(connections ? [connections] : [])], register);
}

/** Return whether the intervals record open connections. */
export function isConnected(run: Run): boolean {
  const intervals = run.result.levels.flatMap((level) => level.intervals ?? []);
  return intervals.some((interval) => interval.connections_open != null);
}

/** Return the chart of connections of a single level. */
export function connections(run: Run, register: Register): HTMLElement[] {
  const data = timeline(run.result.levels, run.view.pooled);
  const spec = data ? connectionsSpec(data) : null;
  return spec ? plots([spec], register) : [];
}

/** Return the charts of distributions, with a choice of level or cell if there are several. */
export function distributions(
  curves: readonly Distribution[],
  register: Register,
  choices: Choices = new Map(),
): HTMLElement[] {
  const byName = groups(curves);
  const box = el("div");
  const show = (name: string) => {
    box.replaceChildren(...groupCharts(byName.get(name) ?? [], register));
  };
  const names = [...byName.keys()];
  const stored = choices.get("distribution");
  const last = stored !== undefined && byName.has(stored) ? stored : names.at(-1);
  if (last === undefined) return [];
  show(last);
  if (names.length === 1) return [box];
  const choice = select(
    "group",
    `${translate("distribution.choose")} `,
    names.map((name) => [name, groupLabel(name, byName.get(name) ?? [])]),
    last,
    (name) => {
      choices.set("distribution", name);
      show(name);
    },
  );
  return [el("p", {}, ...choice), box];
}

/** Return the flame graph of a profile. */
export function flameGraph(profile: View["flames"][number], register: Register): HTMLElement {
  const show = (weight: number) =>
    profile.unit === "ns" ? ms(weight / 1e6) : `${count(weight)} ${profile.unit}`;
  return register(new FlameGraph(profile.tree, show, localized(profile.title), profile.beside));
}

/** Return the charts of CPU and memory; none if they were not monitored. */
export function cpu(run: Run, register: Register): HTMLElement[] {
  const data = cpuSamples(run.result.levels);
  if (!data) return [];
  const memory = memorySpec(data);
  return [...plots([cpuSpec(data), ...(memory ? [memory] : [])], register), coresChart(data)];
}

/** Return whether CPU was monitored. */
export function isWatched(run: Run): boolean {
  return cpuSamples(run.result.levels) !== null;
}

function runCharts(run: Run, register: Register): HTMLElement[] {
  const data = timeline(run.result.levels, run.view.pooled);
  const streams = run.view.distributions.filter((curve) => curve.of_streams);
  const isOne = run.result.levels.length === 1 && streams.length > 0;
  const spread = isOne
    ? [
        el(
          "div",
          { class: "panels" },
          ...plots(
            streams.map((curve) => specOf([curve], run.view.slos)),
            register,
          ),
        ),
      ]
    : [];
  return [...spread, ...(data ? plots(timed(run, data), register) : [])];
}

function timed({ result, view }: Run, data: Timeline): Spec[] {
  const serving = servingSpecs(servingTimes(result.levels, data), data);
  return timelineSpecs(data, view.slos, serving);
}

/** Return the distributions of two runs, if both have the same single level. */
function spread({ view }: Run, register: Register): HTMLElement[] {
  const isOne = new Set(view.distributions.map((curve) => curve.level)).size === 1;
  return isOne ? groupCharts(view.distributions, register) : [];
}

/** Return one chart with all candidates of a comparison, else a chart per kind of time. */
function groupCharts(curves: readonly Distribution[], register: Register): HTMLElement[] {
  const metrics = [...new Set(curves.map((curve) => curve.metric))];
  const isCompared = curves.some((curve) => curve.candidate != null);
  const isStreamed = curves.some((curve) => curve.of_streams);
  if (!isCompared && !isStreamed) return plots([specOf(curves)], register);
  return plots(
    metrics.map((metric) => specOf(curves.filter((curve) => curve.metric === metric))),
    register,
  );
}

function specOf(curves: readonly Distribution[], slos: readonly Slo[] = []): Spec {
  const metrics = [...new Set(curves.map((curve) => curve.metric))];
  const values = curves.flatMap((curve) => curve.points.map(([, value]) => value));
  return distributionSpec(
    curves,
    translate("distribution.title", { metric: metrics.join(", ") }),
    spansFar(values),
    slos,
  );
}

function groupLabel(name: string, curves: readonly Distribution[]): string {
  const cell = curves[0]?.cell;
  return cell == null ? translate("details.at", { n: name }) : localized(cell);
}

function plots(specs: readonly Spec[], register: Register): HTMLElement[] {
  return specs.map((spec) => register(new Plot(spec)));
}
