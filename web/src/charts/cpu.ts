// Charts of CPU and memory over time, and a row per core: the darker, the busier.

import type { CpuSamples } from "../data/cpu";
import { el, svg } from "../dom";
import { percent, rate, compact } from "../format";
import { chartHead } from "../picture/save";
import { translate } from "../translate";
import type { Spec } from "./plot";

const ROW = 18;
const NAMES_WIDTH = 56;

/** Return the chart of the CPU usage of target and torr over time. */
export function cpuSpec(samples: CpuSamples): Spec {
  const starts = [...samples.xs];
  const middle = starts.map((start, at) => start + (samples.seconds[at] ?? 0) / 2);
  const target = {
    label: translate("cpu.target"),
    values: samples.target,
    colour: "blue",
    show: percent,
  } as const;
  const torr = {
    label: "torr",
    values: samples.generator,
    colour: "orange",
    show: percent,
    dash: [8, 4],
  };
  return {
    title: translate("cpu.title"),
    height: 180,
    xs: middle,
    lines: [{ ...target }, { ...torr, colour: "orange" }],
    x: { scale: "plain", label: translate("time.axis") },
    y: { scale: "zero", show: (value) => `${value} %` },
    heading: (at) => translate("cpu.heading", { s: (middle[at] ?? 0).toFixed(1) }),
  };
}

/** Return the chart of the target's memory over time, in MiB; null without samples. */
export function memorySpec(samples: CpuSamples): Spec | null {
  if (!samples.memory.some((value) => value != null)) return null;
  return {
    ...cpuSpec(samples),
    title: translate("cpu.memory"),
    height: 130,
    lines: [
      {
        label: translate("cpu.target"),
        values: samples.memory.map((value) => (value == null ? null : value / 1024 ** 2)),
        colour: "blue",
        show: (value) => `${rate(value)} MiB`,
      },
    ],
    y: { scale: "zero", show: (value) => `${compact(value)} MiB` },
  };
}

/** Return the chart of all cores, which scales to the available width. */
export function coresChart(samples: CpuSamples): HTMLElement {
  const first = samples.xs[0] ?? 0;
  const last = (samples.xs.at(-1) ?? 0) + (samples.seconds.at(-1) ?? 0);
  const scale = 1000 / (last - first || 1);
  const rows = samples.cores.map((core, row) =>
    svg(
      "g",
      {},
      svg(
        "text",
        { x: NAMES_WIDTH - 8, y: row * ROW + 13, class: "core-name" },
        String(core.number),
      ),
      ...core.busy.flatMap((busy, at) => {
        if (busy == null) return [];
        const x = NAMES_WIDTH + ((samples.xs[at] ?? 0) - first) * scale;
        const width = Math.max(1, (samples.seconds[at] ?? 0) * scale);
        const box = {
          x,
          y: row * ROW + 1,
          width,
          height: ROW - 2,
          "fill-opacity": Math.ceil(busy / 10) / 10,
        };
        const tip = translate("cpu.tip", {
          core: core.number,
          s: (samples.xs[at] ?? 0).toFixed(1),
          busy: percent(busy),
        });
        return [svg("rect", { ...box, class: "core" }, svg("title", {}, tip))];
      }),
    ),
  );
  const title = translate("cpu.cores");
  const size = { viewBox: `0 0 ${1000 + NAMES_WIDTH} ${rows.length * ROW}`, class: "cores" };
  const chart: HTMLElement = el(
    "div",
    { class: "chart" },
    chartHead(() => chart, title),
    svg("svg", { ...size, role: "img", "aria-label": title }, ...rows),
  );
  return chart;
}
