// CPU and memory over time, and every core as a lane: the darker the fuller.

import type { Looks } from "../data/cores";
import { el, svg } from "../dom";
import { percent, rate, short } from "../format";
import { saver } from "../picture/save";
import { say } from "../words";
import type { Spec } from "./plot";

const LANE = 18;
const NAMES = 56;

/** CPU of target and torr over time. */
export function cpuSpec(found: Looks): Spec {
  const starts = [...found.xs];
  const middle = starts.map((start, at) => start + (found.seconds[at] ?? 0) / 2);
  const target = {
    label: say("cpu.target"),
    values: found.target,
    colour: "blue",
    show: percent,
  } as const;
  const torr = {
    label: "torr",
    values: found.generator,
    colour: "orange",
    show: percent,
    dash: [8, 4],
  };
  return {
    title: say("cpu.title"),
    height: 180,
    xs: middle,
    lines: [{ ...target }, { ...torr, colour: "orange" }],
    x: { scale: "plain", label: say("time.axis") },
    y: { scale: "zero", show: (value) => `${value} %` },
    heading: (at) => say("cpu.heading", { s: (middle[at] ?? 0).toFixed(1) }),
  };
}

/** Memory of the target over time, in MiB; null where nobody looked. */
export function memorySpec(found: Looks): Spec | null {
  if (!found.memory.some((value) => value != null)) return null;
  return {
    ...cpuSpec(found),
    title: say("cpu.memory"),
    height: 130,
    lines: [
      {
        label: say("cpu.target"),
        values: found.memory.map((value) => (value == null ? null : value / 1024 ** 2)),
        colour: "blue",
        show: (value) => `${rate(value)} MiB`,
      },
    ],
    y: { scale: "zero", show: (value) => `${short(value)} MiB` },
  };
}

/** The lanes, as wide as there is room. */
export function lanes(found: Looks): HTMLElement {
  const first = found.xs[0] ?? 0;
  const last = (found.xs.at(-1) ?? 0) + (found.seconds.at(-1) ?? 0);
  const scale = 1000 / (last - first || 1);
  const rows = found.cores.map((core, row) =>
    svg(
      "g",
      {},
      svg("text", { x: NAMES - 8, y: row * LANE + 13, class: "lane-name" }, String(core.number)),
      ...core.busy.flatMap((busy, at) => {
        if (busy == null) return [];
        const x = NAMES + ((found.xs[at] ?? 0) - first) * scale;
        const width = Math.max(1, (found.seconds[at] ?? 0) * scale);
        const box = {
          x,
          y: row * LANE + 1,
          width,
          height: LANE - 2,
          "fill-opacity": Math.ceil(busy / 10) / 10,
        };
        const tip = say("cpu.tip", {
          core: core.number,
          s: (found.xs[at] ?? 0).toFixed(1),
          busy: percent(busy),
        });
        return [svg("rect", { ...box, class: "lane" }, svg("title", {}, tip))];
      }),
    ),
  );
  const size = { viewBox: `0 0 ${1000 + NAMES} ${rows.length * LANE}`, class: "lanes" };
  const drawn = svg("svg", { ...size, role: "img", "aria-label": say("cpu.cores") }, ...rows);
  const title = el("h3", {}, say("cpu.cores"));
  const head = el("div", { class: "chart-head" }, title);
  const chart = el("div", { class: "chart" }, head, drawn);
  head.append(saver(() => chart, say("cpu.cores")));
  return chart;
}
