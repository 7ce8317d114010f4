// Charts of a run over time: percentiles of latency as bands, rates, errors by class, connections.

import { count, ms, rate, compact } from "../format";
import { limitsInRange } from "../data/limits";
import type { Stat, Timeline } from "../data/timeline";
import type { Slo, Values } from "../model";
import { translate, type Key } from "../translate";
import { CLASS_COLOURS, type Colour } from "./palette";
import type { Line, Spec } from "./plot";
import { borders, limits, shaded, type Shape } from "./shapes";

const BANDS: [number, number, number][] = [
  [1, 0, 0.55],
  [2, 1, 0.25],
];

/** The lines of nodes, which also differ in dash. */
const NODE_STYLES: [Colour, number[]][] = [
  ["blue", []],
  ["orange", []],
  ["green", []],
  ["purple", []],
  ["blue", [8, 4]],
  ["orange", [8, 4]],
  ["green", [8, 4]],
  ["purple", [8, 4]],
];

/**
 * Return the charts for which a timeline has values, latencies first.
 *
 * `serving` are those of LLM servers, which explain the times of streams and stand behind them.
 */
export function timelineSpecs(
  timeline: Timeline,
  slos: readonly Slo[] = [],
  serving: readonly Spec[] = [],
): Spec[] {
  const specs = Object.entries(timeline.times).map(([name, percentiles]) =>
    times(timeline, name, percentiles, slos),
  );
  if (timeline.tokens.some((value) => value)) specs.push(tokens(timeline));
  specs.push(...serving);
  specs.push(rates(timeline));
  if (Object.keys(timeline.nodes).length) specs.push(nodes(timeline));
  specs.push(errors(timeline));
  return specs;
}

/** Return the chart of open connections; null if the intervals do not record them. */
export function connectionsSpec(timeline: Timeline): Spec | null {
  if (!timeline.connections.some((value) => value != null)) return null;
  return {
    ...base(timeline, translate("time.connections"), 130),
    lines: [
      { label: translate("time.open"), values: timeline.connections, colour: "blue", show: count },
    ],
  };
}

function times(
  timeline: Timeline,
  name: string,
  { p50, p95, p99 }: Record<Stat, Values>,
  slos: readonly Slo[],
): Spec {
  const line = (label: string, values: Line["values"], dash?: number[]): Line => ({
    label,
    values,
    colour: "blue",
    show: ms,
    ...(dash ? { dash } : {}),
  });
  const all = [line("p50", p50), line("p95", p95, [8, 4]), line("p99", p99, [2, 3])];
  // A percentile that no interval supports is not drawn; higher ones need even more responses.
  const lines = all.filter(({ values }, at) => !at || values.some((value) => value != null));
  // A limit on a percentile is drawn only if its curve is.
  const drawn = new Set(lines.map(({ label }) => label));
  const shown = limitsInRange(
    slos.filter(({ stat }) => stat == null || drawn.has(stat)),
    name,
    lines.flatMap(({ values }) => values),
  );
  const title = translate(`time.${name}` as Key);
  const spec = base(timeline, lines.length === 1 ? `${title} · p50` : title, 230);
  return {
    ...spec,
    lines,
    bands: BANDS.filter(([upper]) => upper < lines.length),
    above: limits(shown),
    y: { ...spec.y, hasSwitch: true, mustInclude: shown.map((slo) => slo.limit) },
  };
}

function rates(timeline: Timeline): Spec {
  const { attempted, ok } = timeline;
  const dash = [5, 3];
  return {
    ...base(timeline, translate("time.rates"), 150),
    lines: [
      { label: translate("time.attempted"), values: attempted, colour: "grey", show: rate, dash },
      { label: translate("time.ok"), values: ok, colour: "green", show: rate },
    ],
  };
}

function tokens(timeline: Timeline): Spec {
  return {
    ...base(timeline, translate("time.tokens"), 150),
    lines: [{ label: "tokens/s", values: timeline.tokens, colour: "purple", show: rate }],
  };
}

/** Return the chart of the nodes' rates; of many nodes, that of the slowest and the fastest. */
function nodes(timeline: Timeline): Spec {
  const entries = Object.entries(timeline.nodes);
  const extreme = (select: (...rates: number[]) => number): Values =>
    timeline.xs.map((_, at) => {
      const atThis = entries.flatMap(([, values]) => values[at] ?? []);
      return atThis.length ? select(...atThis) : null;
    });
  const shown: [string, Values][] =
    entries.length <= NODE_STYLES.length
      ? entries
      : [
          [translate("time.fastestNode"), extreme(Math.max)],
          [translate("time.slowestNode"), extreme(Math.min)],
        ];
  const lines = shown.map(([label, values], at): Line => ({
    label,
    values,
    show: rate,
    ...nodeStyle(at),
  }));
  const { clockError } = timeline;
  const title =
    clockError === null
      ? translate("time.nodes")
      : translate("time.nodesWithin", { error: ms(clockError) });
  return { ...base(timeline, title, 150), lines };
}

function nodeStyle(at: number): Pick<Line, "colour" | "dash"> {
  const [colour, dash] = NODE_STYLES[at] ?? ["grey", []];
  return dash.length ? { colour, dash } : { colour };
}

/** Return the stacked chart of errors by class, the most frequent class at the bottom. */
function errors(timeline: Timeline): Spec {
  const names = Object.keys(timeline.errors);
  const sums = timeline.xs.map(() => 0);
  const lines = names.map((name, at): Line => {
    const tooltipValues = timeline.errors[name] ?? [];
    tooltipValues.forEach((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0)));
    const colour = CLASS_COLOURS[at % CLASS_COLOURS.length] ?? "orange";
    return { label: name, values: [...sums], tooltipValues, colour, show: rate, kind: "bars" };
  });
  const title = names.length ? translate("time.errors") : translate("time.noErrors");
  return { ...base(timeline, title, 120), lines: lines.reverse(), isNamed: true };
}

/** Return a chart on the time axis of the intervals, without lines. */
export function base(timeline: Timeline, title: string, height: number): Spec {
  const isAlone = timeline.levels.length < 2;
  const first = (timeline.xs[0] ?? 0) - (timeline.seconds[0] ?? 0) / 2;
  const last = (timeline.xs.at(-1) ?? 0) + (timeline.seconds.at(-1) ?? 0) / 2;
  return {
    title,
    height,
    xs: timeline.xs,
    lines: [],
    x: {
      scale: "plain",
      label: translate(isAlone ? "time.axis" : "time.axisOfLevels"),
      range: [first, last],
    },
    // Leave room for the labels of levels above the lines.
    y: { scale: "zero", headroom: isAlone ? 1.12 : 1.3 },
    behind: [phases(timeline), ...(isAlone ? [] : [levels(timeline)])],
    heading: (at) => heading(timeline, at),
  };
}

function phases(timeline: Timeline): Shape {
  const spans = [
    { span: timeline.warmup, words: translate("time.warmup") },
    { span: timeline.drain, words: translate("time.drain") },
  ];
  return shaded(spans.flatMap(({ span, words }) => (span ? [{ ...span, words }] : [])));
}

function levels(timeline: Timeline): Shape {
  return borders(
    timeline.levels.map((level) => ({
      ...level,
      words: level.candidate ?? compact(level.position),
    })),
  );
}

function heading(timeline: Timeline, at: number): string {
  const values = { s: (timeline.xs[at] ?? 0).toFixed(1), n: count(timeline.n[at]) };
  const level = timeline.positions[at] ?? 0;
  if (timeline.levels.length < 2) return translate("time.heading", values);
  return translate("time.headingOfLevel", { ...values, level: count(level) });
}
