// How times are spread, up to the last percentile that the number of values carries.

import { columns, named, place, TICKS } from "../data/distribution";
import { count, ms } from "../format";
import { inReach } from "../data/limits";
import type { Distribution, Slo } from "../model";
import { say } from "../words";
import type { Colour } from "./palette";
import type { Line, Spec } from "./plot";
import { limit } from "./shapes";

const LOOKS: { colour: Colour; dash: number[] }[] = [
  { colour: "blue", dash: [] },
  { colour: "orange", dash: [8, 4] },
  { colour: "green", dash: [2, 3] },
  { colour: "purple", dash: [12, 4, 2, 4] },
  { colour: "grey", dash: [4, 4] },
];

/** The chart of curves that belong together. */
export function distributionSpec(
  curves: readonly Distribution[],
  title: string,
  isLog: boolean,
  slos: readonly Slo[] = [],
): Spec {
  const { xs, values } = columns(curves);
  const lines = curves.map((curve, at): Line => {
    const look = LOOKS[at % LOOKS.length] ?? { colour: "blue" as const, dash: [] };
    const n = `n = ${count(curve.n)}`;
    const doubt = curve.doubtful ? `, ${say("ladder.doubtful")}` : "";
    const label = `${curve.candidate == null ? curve.metric : curve.candidate} (${n}${doubt})`;
    return { label, values: values[at] ?? [], show: ms, isJoined: true, ...look };
  });
  const metrics = new Set(curves.map((curve) => curve.metric));
  const known = values.flat();
  const limits = [...metrics].flatMap((metric) => inReach(slos, metric, known));
  const last = xs.at(-1) ?? 1;
  return {
    title,
    height: 260,
    xs,
    lines,
    x: {
      scale: "plain",
      label: say("distribution.axis"),
      ticks: TICKS.map(place).filter((at) => at <= last + 1e-6),
      show: named,
    },
    y: { scale: isLog ? "log" : "zero", hasSwitch: true, holds: limits.map((slo) => slo.limit) },
    above: limits.map((slo) => limit(slo.limit, `SLO ${slo.text}`)),
    isNamed: true,
    heading: (at) => named(xs[at] ?? 0),
  };
}
