// Charts of LLM servers and GPUs over time, on the time axis of the intervals.

import type { ServingTimes } from "../data/serving";
import type { Timeline } from "../data/timeline";
import { ms, percent, rate } from "../format";
import type { ServingQuantity, Values } from "../model";
import { translate, type Key } from "../translate";
import type { Colour } from "./palette";
import type { Line, Spec } from "./plot";
import { base } from "./timeline";

interface Chart {
  title: Key;
  height: number;
  lines: [ServingQuantity, Colour, number[]][];
  show: (value: number) => string;
  /** Divides the values. */
  unit?: number;
  top?: number;
}

const GIB = 1024 ** 3;
const DASH = [8, 4];
const CHARTS: readonly Chart[] = [
  {
    title: "serving.requests",
    height: 150,
    lines: [
      ["running", "green", []],
      ["waiting", "orange", DASH],
    ],
    show: rate,
  },
  {
    title: "serving.caches",
    height: 150,
    lines: [
      ["kv_cache_rate", "purple", []],
      ["prefix_hit_rate", "blue", DASH],
    ],
    show: percent,
    top: 110,
  },
  {
    title: "serving.times",
    height: 150,
    lines: [
      ["ttft_ms", "blue", []],
      ["queue_ms", "orange", DASH],
    ],
    show: ms,
  },
  {
    title: "serving.tokens",
    height: 150,
    lines: [
      ["generated_tokens_per_s", "purple", []],
      ["prompt_tokens_per_s", "grey", DASH],
    ],
    show: rate,
  },
  {
    title: "serving.preemptions",
    height: 120,
    lines: [["preemptions_per_s", "orange", []]],
    show: rate,
  },
  { title: "serving.gpu", height: 120, lines: [["gpu_rate", "blue", []]], show: percent, top: 110 },
  {
    title: "serving.power",
    height: 120,
    lines: [["power_w", "orange", []]],
    show: (value) => `${rate(value)} W`,
  },
  {
    title: "serving.memory",
    height: 120,
    lines: [["gpu_memory_bytes", "purple", []]],
    show: (value) => `${rate(value)} GiB`,
    unit: GIB,
  },
];

/** Return the charts over time of all sources, those of a source together. */
export function servingSpecs(sources: readonly ServingTimes[], timeline: Timeline): Spec[] {
  return sources.flatMap((source) =>
    CHARTS.flatMap((chart) => {
      const spec = overTime(chart, source, timeline);
      return spec ? [spec] : [];
    }),
  );
}

function overTime(chart: Chart, source: ServingTimes, timeline: Timeline): Spec | null {
  const lines = chart.lines.flatMap(([quantity, colour, dash]): Line[] => {
    const values = source.columns[quantity];
    // Preemptions are rare, and a chart of none says nothing.
    const isShown = values?.some(
      (value) => value != null && (value > 0 || quantity !== "preemptions_per_s"),
    );
    if (!values || !isShown) return [];
    const label = translate(`serving.${quantity}` as Key);
    const line = { label, values: divided(values, chart.unit ?? 1), colour, show: chart.show };
    return [dash.length ? { ...line, dash } : line];
  });
  if (!lines.length) return null;
  const spec = base(timeline, translate(chart.title, { source: source.name }), chart.height);
  return {
    ...spec,
    xs: source.xs,
    lines,
    isNamed: chart.lines.length > 1,
    y: chart.top ? percentAxis(chart.top) : spec.y,
    heading: (at) => translate("cpu.heading", { s: (source.xs[at] ?? 0).toFixed(1) }),
  };
}

function percentAxis(top: number): Spec["y"] {
  return { scale: "zero", top, show: (value) => (value > 100 ? "" : `${value} %`) };
}

function divided(values: Values, unit: number): Values {
  return values.map((value) => (value == null ? null : value / unit));
}
