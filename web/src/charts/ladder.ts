// Charts of a ladder over concurrency: rate, times, success rate and metrics of streams.

import {
  unclaimedValues,
  claimedValues,
  regions,
  spansFar,
  timeLimits,
  uslCurve,
} from "../data/ladder";
import { limitsInRange, limitsOn } from "../data/limits";
import { count, ms, percent, rate, compact } from "../format";
import type { Finding, Ladder, Point, ServingPanel, Slo, StreamPanel, Usl } from "../model";
import { localized, translate } from "../translate";
import type { Line, Spec } from "./plot";
import { curve, flags, hatched, headroom, limits, whiskers, type Flag, type Shape } from "./shapes";

type Read = (point: Point) => number | null;
type Style = Pick<Line, "colour" | "marker" | "dash">;
type Look = Style & Pick<Line, "show">;

const FINDING_STYLES: Record<Finding["kind"], Pick<Flag, "colour" | "dash">> = {
  peak: { colour: "blue", dash: [2, 3] },
  knee: { colour: "text", dash: [3, 4] },
  capacity: { colour: "purple", dash: [7, 4] },
};
const HEIGHT = 230;
const BLUE = { colour: "blue", marker: "circle" } as const;
const ORANGE: Style = { colour: "orange", marker: "triangle", dash: [2, 3] };
const PURPLE: Style = { colour: "purple", marker: "square", dash: [8, 4] };
/** The units of metrics of streams that are no times. */
const UNITS: Record<string, "rate" | "percent"> = { "tokens/s": "rate", goodput: "percent" };
const PERCENT_AXIS: Spec["y"] = {
  scale: "zero",
  top: 110,
  show: (value) => (value > 100 ? "" : `${value} %`),
};

/** Return the charts of rate and times. */
export function ladderSpecs(ladder: Ladder, fit: Usl | null | undefined): Spec[] {
  return [rates(ladder, fit), times(ladder)];
}

/** Return the charts of streams, of LLM servers, and of the success rate. */
export function moreSpecs(ladder: Ladder): Spec[] {
  return [
    ...ladder.stream_panels.map((panel) => streamed(ladder, panel)),
    ...(ladder.serving ?? []).map((panel) => served(ladder, panel)),
    success(ladder),
  ];
}

function rates(ladder: Ladder, fit: Usl | null | undefined): Spec {
  const { points, findings } = ladder;
  const lines = pair(points, "ok/s", (point) => point.ok_per_s, { ...BLUE, show: rate });
  const spec = base(ladder, translate("ladder.rate"), lines);
  const lineOf = ({ level, words, kind }: Finding): Flag => ({
    x: level,
    words: localized(words),
    ...FINDING_STYLES[kind],
  });
  spec.behind.push(
    flags(findings.map(lineOf)),
    ranges(points, (point) => point.ok_per_s_range),
  );
  spec.y = {
    scale: "zero",
    mustInclude: points.flatMap((point) => point.ok_per_s_range ?? []),
    headroom: headroom(Math.min(3, findings.length), HEIGHT),
  };
  if (fit) {
    const model = uslCurve(fit);
    lines.push({
      label: translate("ladder.usl", { r2: fit.r2.toFixed(4) }),
      values: xs(points).map(model),
      colour: "grey",
      show: rate,
      dash: [2, 3],
      kind: "curve",
      isOutsideRange: true,
    });
    spec.behind.push(curve(model, "grey", [2, 3]));
  }
  return spec;
}

function times(ladder: Ladder): Spec {
  const { points } = ladder;
  const mean = translate("ladder.ttlb");
  const lines = [
    ...pair(points, "p95", (point) => point.p95_ms, { ...ORANGE, show: ms }),
    ...pair(points, mean, (point) => point.service_ms, { ...PURPLE, show: ms }),
  ];
  const slos = timeLimits(ladder);
  const spec = base(ladder, translate("ladder.time"), lines, slos);
  spec.behind.push(ranges(points, (point) => point.p95_ms_range));
  spec.y = {
    scale: spansFar(lines.flatMap((line) => line.values)) ? "log" : "zero",
    hasSwitch: true,
    mustInclude: [
      ...slos.map((slo) => slo.limit),
      ...points.flatMap((point) => point.p95_ms_range ?? []),
    ],
    headroom: 1.2,
  };
  return spec;
}

function success(ladder: Ladder): Spec {
  const look = { ...BLUE, show: percent };
  const label = translate("ladder.success");
  const lines = pair(ladder.points, label, (point) => point.success_rate, look);
  const slos = ladder.slos.filter((slo) => slo.unit === "%" && slo.metric.startsWith("success"));
  const spec = base(ladder, translate("ladder.successOf"), lines, slos);
  return { ...spec, height: 170, y: PERCENT_AXIS };
}

function streamed(ladder: Ladder, { metric, statistics }: StreamPanel): Spec {
  const { points } = ladder;
  const unit = UNITS[metric] ?? "ms";
  const show = { ms, rate, percent }[unit];
  const looks = statistics.length > 1 ? [ORANGE, BLUE, PURPLE] : [BLUE];
  const lines = statistics.flatMap((name, at) =>
    pair(points, name, (point) => point.stream?.[name] ?? null, { ...(looks[at] ?? BLUE), show }),
  );
  const doubtful = new Set(
    metric === "inter_chunk"
      ? points.flatMap((p, at) => (ladder.joined.includes(p.position) ? [at] : []))
      : [],
  );
  const values = lines.flatMap((line) => line.values);
  const slos =
    unit === "percent" ? limitsOn(ladder.slos, metric) : limitsInRange(ladder.slos, metric, values);
  const words = [metric, unit === "ms" && "ms", doubtful.size && translate("ladder.doubtful")];
  return {
    ...base(
      ladder,
      words.filter(Boolean).join(", "),
      lines.map((line) => ({ ...line, hollow: new Set([...(line.hollow ?? []), ...doubtful]) })),
      slos,
    ),
    y:
      unit === "percent"
        ? PERCENT_AXIS
        : {
            scale: "zero",
            hasSwitch: unit === "ms",
            mustInclude: slos.map((slo) => slo.limit),
            headroom: 1.2,
          },
  };
}

function served(ladder: Ladder, { title, unit, lines: shown }: ServingPanel): Spec {
  const { points } = ladder;
  const show = { ms, rate, percent }[unit];
  const looks = [ORANGE, BLUE, PURPLE];
  const lines = shown.flatMap(({ label, values }, at) =>
    pair(points, localized(label), (point) => values[points.indexOf(point)] ?? null, {
      ...(looks[shown.length > 1 ? at : 1] ?? BLUE),
      show,
    }),
  );
  return {
    ...base(ladder, localized(title), lines),
    isNamed: true,
    y:
      unit === "percent"
        ? PERCENT_AXIS
        : { scale: "zero", hasSwitch: unit === "ms", headroom: 1.2 },
  };
}

/** Return a line through levels that support claims, and hollow points for the others. */
function pair(points: readonly Point[], label: string, read: Read, look: Look): Line[] {
  const others = unclaimedValues(points, read);
  const lines: Line[] = [{ label, values: claimedValues(points, read), isJoined: true, ...look }];
  if (others.some((value) => value != null)) {
    lines.push({
      label: translate("ladder.unclaimed", { metric: label }),
      values: others,
      kind: "marks",
      hollow: new Set(points.keys()),
      ...look,
    });
  }
  return lines;
}

function ranges(points: readonly Point[], read: (point: Point) => [number, number] | null): Shape {
  return whiskers(
    xs(points),
    points.map((point) => (point.claim === "whole" ? read(point) : null)),
  );
}

function base(
  ladder: Ladder,
  title: string,
  lines: Line[],
  slos: readonly Slo[] = [],
): Spec & { behind: Shape[] } {
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
    behind: [unclaimed(ladder)],
    above: limits(slos),
    heading: (at) => heading(points[at], ladder),
  };
}

function heading(point: Point | undefined, ladder: Ladder): string {
  if (!point) return "";
  const words = [translate(`ladder.at.${ladder.noun}`, { n: count(point.position) })];
  words.push(translate("ladder.rounds", { n: point.rounds }));
  words.push(...boundsOf(point));
  if (point.claim !== "whole") words.push(translate(`ladder.claim.${point.claim}`));
  return words.join(" · ");
}

/** Return which of the numbers of a level or run are lower bounds. */
export function boundsOf(numbers: Pick<Point, "at_least" | "p95_at_least">): string[] {
  const words = [];
  if (numbers.at_least) words.push(translate("ladder.atLeast"));
  if (numbers.p95_at_least) words.push(translate("ladder.p95AtLeast"));
  return words;
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
  return points.map((point) => point.position);
}
