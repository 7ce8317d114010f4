// Charts of a ladder over concurrency: rate, times, success rate and metrics of streams.

import {
  unclaimedValues,
  claimedValues,
  regions,
  spansFar,
  streamPanels,
  timeLimits,
  uslCurve,
  type StreamPanel,
} from "../data/ladder";
import { count, ms, percent, rate, compact } from "../format";
import type { Finding, Ladder, Point, Usl } from "../model";
import { localized, translate } from "../translate";
import type { Line, Spec } from "./plot";
import { curve, flags, hatched, headroom, limits, whiskers, type Flag, type Shape } from "./shapes";

type Read = (point: Point) => number | null;

const FINDING_STYLES: Record<Finding["kind"], Pick<Flag, "colour" | "dash">> = {
  peak: { colour: "blue", dash: [2, 3] },
  knee: { colour: "text", dash: [3, 4] },
  capacity: { colour: "purple", dash: [7, 4] },
};
const HEIGHT = 230;

/** Return the charts of rate and times. */
export function ladderSpecs(ladder: Ladder, fit: Usl | null | undefined): Spec[] {
  return [rates(ladder, fit), times(ladder)];
}

/** Return the charts of streams and of the success rate. */
export function moreSpecs(ladder: Ladder): Spec[] {
  return [...streamPanels(ladder).map((panel) => streamed(ladder, panel)), success(ladder)];
}

function rates(ladder: Ladder, fit: Usl | null | undefined): Spec {
  const { points } = ladder;
  const lines = [...pair(points, "ok/s", (point) => point.ok_per_s, rate, "blue", "circle")];
  const findings: Shape[] = [
    flags(
      ladder.findings.map((finding) => ({
        x: finding.level,
        words: localized(finding.words),
        ...FINDING_STYLES[finding.kind],
      })),
    ),
  ];
  const behind = [
    unclaimed(ladder),
    ...findings,
    whiskers(
      xs(points),
      points.map((p) => (p.claim === "whole" ? p.ok_per_s_range : null)),
    ),
  ];
  if (fit) {
    const model = uslCurve(fit);
    const label = translate("ladder.usl", { r2: fit.r2.toFixed(4) });
    lines.push({
      label,
      values: xs(points).map(model),
      colour: "grey",
      show: rate,
      dash: [2, 3],
      kind: "curve",
      isOutsideRange: true,
    });
    behind.push(curve(model, "grey", [2, 3]));
  }
  const rangeEnds = points.flatMap((point) => point.ok_per_s_range ?? []);
  return {
    ...base(ladder, translate("ladder.rate"), lines),
    y: {
      scale: "zero",
      mustInclude: rangeEnds,
      headroom: headroom(Math.min(3, ladder.findings.length), HEIGHT),
    },
    behind,
  };
}

function times(ladder: Ladder): Spec {
  const { points } = ladder;
  const lines = [
    ...pair(points, "p95", (point) => point.p95_ms, ms, "orange", "triangle", [2, 3]),
    ...pair(
      points,
      translate("ladder.ttlb"),
      (point) => point.service_ms,
      ms,
      "purple",
      "square",
      [8, 4],
    ),
  ];
  const slos = timeLimits(ladder);
  const allValues = lines.flatMap((line) => line.values);
  return {
    ...base(ladder, translate("ladder.time"), lines),
    y: {
      scale: spansFar(allValues) ? "log" : "zero",
      hasSwitch: true,
      mustInclude: slos.map((slo) => slo.limit),
      headroom: 1.2,
    },
    behind: [
      unclaimed(ladder),
      whiskers(
        xs(points),
        points.map((p) => (p.claim === "whole" ? p.p95_ms_range : null)),
      ),
    ],
    above: limits(slos),
  };
}

function success(ladder: Ladder): Spec {
  const lines = pair(
    ladder.points,
    translate("ladder.success"),
    (point) => point.success_rate,
    percent,
    "blue",
    "circle",
  );
  const slos = ladder.slos.filter((slo) => slo.unit === "%" && slo.metric.startsWith("success"));
  return {
    ...base(ladder, translate("ladder.successOf"), lines),
    height: 170,
    y: { scale: "zero", top: 110, show: (value) => (value > 100 ? "" : `${value} %`) },
    behind: [unclaimed(ladder)],
    above: limits(slos),
  };
}

function streamed(ladder: Ladder, panel: StreamPanel): Spec {
  const show = { ms, rate, percent }[panel.unit];
  const styles = [
    { colour: "orange", marker: "triangle", dash: [2, 3] },
    { colour: "blue", marker: "circle", dash: [] },
    { colour: "purple", marker: "square", dash: [8, 4] },
  ] as const;
  const lines = panel.stats.flatMap((name, at) => {
    const { colour, marker, dash } = (panel.stats.length > 1 ? styles[at] : null) ?? styles[1];
    return pair(
      ladder.points,
      name,
      (point) => point.stream?.[name] ?? null,
      show,
      colour,
      marker,
      [...dash],
    );
  });
  const doubtful = new Set(
    panel.metric === "inter_chunk"
      ? ladder.points.flatMap((p, at) => (ladder.joined.includes(p.concurrency) ? [at] : []))
      : [],
  );
  const slos = ladder.slos.filter((slo) => slo.metric === panel.metric && !slo.request);
  const words = doubtful.size ? `, ${translate("ladder.doubtful")}` : "";
  return {
    ...base(
      ladder,
      translate("ladder.stream", {
        metric: panel.metric,
        unit: panel.unit === "ms" ? ", ms" : "",
      }) + words,
      lines.map((line) => ({ ...line, hollow: new Set([...(line.hollow ?? []), ...doubtful]) })),
    ),
    y:
      panel.unit === "percent"
        ? { scale: "zero", top: 110, show: (value) => (value > 100 ? "" : `${value} %`) }
        : {
            scale: "zero",
            hasSwitch: panel.unit === "ms",
            mustInclude: slos.map((slo) => slo.limit),
            headroom: 1.2,
          },
    behind: [unclaimed(ladder)],
    above: limits(slos),
  };
}

/** Return a line through levels that support claims, and hollow points for the others. */
function pair(
  points: readonly Point[],
  label: string,
  read: Read,
  show: (value: number) => string,
  colour: Line["colour"],
  marker: NonNullable<Line["marker"]>,
  dash?: number[],
): Line[] {
  const style = { colour, marker, show, ...(dash?.length ? { dash } : {}) };
  const others = unclaimedValues(points, read);
  const lines: Line[] = [{ label, values: claimedValues(points, read), isJoined: true, ...style }];
  if (others.some((value) => value != null)) {
    const hollow = new Set(points.keys());
    lines.push({
      label: translate("ladder.unclaimed", { metric: label }),
      values: others,
      kind: "marks",
      hollow,
      ...style,
    });
  }
  return lines;
}

function base(ladder: Ladder, title: string, lines: Line[]): Spec {
  const { points } = ladder;
  return {
    title,
    height: HEIGHT,
    xs: xs(points),
    lines,
    x: {
      scale: "log",
      label: translate(`ladder.axis.${ladder.noun}`),
      ticks: xs(points),
      show: compact,
    },
    y: { scale: "zero" },
    heading: (at) => heading(points[at], ladder),
  };
}

function heading(point: Point | undefined, ladder: Ladder): string {
  if (!point) return "";
  const words = [translate(`ladder.at.${ladder.noun}`, { n: count(point.concurrency) })];
  words.push(translate("ladder.rounds", { n: point.rounds }));
  if (point.at_least) words.push(translate("ladder.atLeast"));
  if (point.claim !== "whole") words.push(translate(`ladder.claim.${point.claim}`));
  return words.join(" · ");
}

function unclaimed(ladder: Ladder): Shape {
  return hatched(
    regions(ladder.points).map((region) => ({
      ...region,
      words: region.claim === "whole" ? "" : translate(`ladder.claim.${region.claim}`),
    })),
  );
}

function xs(points: readonly Point[]): number[] {
  return points.map((point) => point.concurrency);
}
