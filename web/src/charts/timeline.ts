// The charts of a run over time: latency as bands, rates, errors by class, connections.

import { count, ms, rate, short } from "../format";
import { inReach } from "../data/limits";
import type { Timeline } from "../data/timeline";
import type { Slo } from "../model";
import { say } from "../words";
import { CLASS_COLOURS } from "./palette";
import type { Line, Spec } from "./plot";
import { borders, limit, shaded, type Shape } from "./shapes";

const BANDS: [number, number, number][] = [
  [1, 0, 0.55],
  [2, 1, 0.25],
];

/** Every chart that a timeline has something for, the latencies first. */
export function timelineSpecs(found: Timeline, slos: readonly Slo[] = []): Spec[] {
  const specs = [];
  if (found.isStreamed) specs.push(times(found, "ttft", slos));
  specs.push(times(found, "response", slos));
  if (found.tokens.some((value) => value)) specs.push(tokens(found));
  specs.push(rates(found), errors(found));
  return specs;
}

/** Connections open over time; null where the intervals do not say. */
export function connectionsSpec(found: Timeline): Spec | null {
  if (!found.connections.some((value) => value != null)) return null;
  return {
    ...base(found, say("time.connections"), 130),
    lines: [{ label: say("time.open"), values: found.connections, colour: "blue", show: count }],
  };
}

function times(found: Timeline, kind: "response" | "ttft", slos: readonly Slo[]): Spec {
  const { p50, p95, p99 } = found.times[kind];
  const line = (label: string, values: Line["values"], dash?: number[]): Line => ({
    label,
    values,
    colour: "blue",
    show: ms,
    ...(dash ? { dash } : {}),
  });
  const every = [line("p50", p50), line("p95", p95, [8, 4]), line("p99", p99, [2, 3])];
  // A percentile that no interval carries is not drawn; those above it need even more answers.
  const lines = every.filter(({ values }, at) => !at || values.some((value) => value != null));
  // A limit says nothing of another percentile's curve.
  const drawn = new Set(lines.map(({ label }) => label));
  const limits = inReach(
    slos.filter(({ stat }) => stat == null || drawn.has(stat)),
    kind,
    lines.flatMap(({ values }) => values),
  );
  const title = say(kind === "ttft" ? "time.ttft" : "time.response");
  const spec = base(found, lines.length === 1 ? `${title} · p50` : title, 230);
  return {
    ...spec,
    lines,
    bands: BANDS.filter(([upper]) => upper < lines.length),
    above: limits.map((slo) => limit(slo.limit, `SLO ${slo.text}`)),
    y: { ...spec.y, hasSwitch: true, holds: limits.map((slo) => slo.limit) },
  };
}

function rates(found: Timeline): Spec {
  return {
    ...base(found, say("time.rates"), 150),
    lines: [
      {
        label: say("time.attempted"),
        values: found.attempted,
        colour: "grey",
        show: rate,
        dash: [5, 3],
      },
      { label: say("time.ok"), values: found.ok, colour: "green", show: rate },
    ],
  };
}

function tokens(found: Timeline): Spec {
  return {
    ...base(found, say("time.tokens"), 150),
    lines: [{ label: "tokens/s", values: found.tokens, colour: "purple", show: rate }],
  };
}

/** Classes stand on each other: the commonest at the bottom, drawn last. */
function errors(found: Timeline): Spec {
  const names = Object.keys(found.errors);
  const sums = found.xs.map(() => 0);
  const lines = names.map((name, at): Line => {
    const told = found.errors[name] ?? [];
    told.forEach((value, index) => (sums[index] = (sums[index] ?? 0) + (value ?? 0)));
    const colour = CLASS_COLOURS[at % CLASS_COLOURS.length] ?? "orange";
    return { label: name, values: [...sums], told, colour, show: rate, kind: "bars" };
  });
  const title = names.length ? say("time.errors") : say("time.noErrors");
  return { ...base(found, title, 120), lines: lines.reverse(), isNamed: true };
}

function base(found: Timeline, title: string, height: number): Spec {
  const isAlone = found.levels.length < 2;
  const first = (found.xs[0] ?? 0) - (found.seconds[0] ?? 0) / 2;
  const last = (found.xs.at(-1) ?? 0) + (found.seconds.at(-1) ?? 0) / 2;
  return {
    title,
    height,
    xs: found.xs,
    lines: [],
    x: {
      scale: "plain",
      label: say(isAlone ? "time.axis" : "time.axisOfLevels"),
      range: [first, last],
    },
    // The names of levels stand above the lines.
    y: { scale: "zero", headroom: isAlone ? 1.12 : 1.3 },
    behind: [surroundings(found), ...(isAlone ? [] : [levels(found)])],
    heading: (at) => heading(found, at),
  };
}

function surroundings(found: Timeline): Shape {
  const spans = [
    { span: found.warmup, words: say("time.warmup") },
    { span: found.drain, words: say("time.drain") },
  ];
  return shaded(spans.flatMap(({ span, words }) => (span ? [{ ...span, words }] : [])));
}

function levels(found: Timeline): Shape {
  return borders(
    found.levels.map((level) => ({ ...level, words: level.candidate ?? short(level.concurrency) })),
  );
}

function heading(found: Timeline, at: number): string {
  const values = { s: (found.xs[at] ?? 0).toFixed(1), n: count(found.n[at]) };
  const level = found.concurrency[at] ?? 0;
  if (found.levels.length < 2) return say("time.heading", values);
  return say("time.headingOfLevel", { ...values, level: count(level) });
}
