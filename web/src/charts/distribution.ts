// The chart of the distribution of times, up to the highest percentile that n values support.

import { columns, percentileName, percentilePosition, TICKS } from "../data/distribution";
import { count, ms } from "../format";
import { limitsInRange } from "../data/limits";
import type { Distribution, Slo } from "../model";
import { translate } from "../translate";
import type { Colour } from "./palette";
import type { Line, Spec } from "./plot";
import { limits } from "./shapes";

const COLOURS: readonly Colour[] = ["blue", "orange", "green", "purple", "grey"];
const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [12, 4, 2, 4], [4, 4]];

/** Return the colour and dashes of a curve; each of the first 25 has its own. */
export function styleOf(at: number): { colour: Colour; dash: number[] } {
  const colour = COLOURS[at % COLOURS.length] ?? "blue";
  const dash = DASHES[(at + Math.floor(at / COLOURS.length)) % DASHES.length] ?? [];
  return { colour, dash };
}

/** Return the chart of curves of one group. */
export function distributionSpec(
  curves: readonly Distribution[],
  title: string,
  isLog: boolean,
  slos: readonly Slo[] = [],
): Spec {
  const { xs, values } = columns(curves);
  const lines = curves.map((curve, at): Line => {
    const n = `n = ${count(curve.n)}`;
    const doubt = curve.doubtful ? `, ${translate("ladder.doubtful")}` : "";
    const label = `${curve.candidate == null ? curve.metric : curve.candidate} (${n}${doubt})`;
    return { label, values: values[at] ?? [], show: ms, isJoined: true, ...styleOf(at) };
  });
  const metrics = new Set(curves.map((curve) => curve.metric));
  const allValues = values.flat();
  const shown = [...metrics].flatMap((metric) => limitsInRange(slos, metric, allValues));
  const last = xs.at(-1) ?? 1;
  return {
    title,
    height: 260,
    xs,
    lines,
    x: {
      scale: "plain",
      label: translate("distribution.axis"),
      ticks: TICKS.map(percentilePosition).filter((at) => at <= last + 1e-6),
      show: percentileName,
    },
    y: {
      scale: isLog ? "log" : "zero",
      hasSwitch: true,
      mustInclude: shown.map((slo) => slo.limit),
    },
    above: limits(shown),
    isNamed: true,
    heading: (at) => percentileName(xs[at] ?? 0),
  };
}
