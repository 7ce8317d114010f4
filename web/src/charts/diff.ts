// Charts of two runs over the same levels: both runs, and the second as a multiple of the first.

import { claimedValues, spansFar } from "../data/ladder";
import { ratios } from "../data/diff";
import { count, factor, ms, rate, compact } from "../format";
import type { Diff, Point } from "../model";
import { translate } from "../translate";
import { boundsOf } from "./ladder";
import type { Line, Spec } from "./plot";
import { sameBand, whiskers } from "./shapes";

const STYLES = [
  { colour: "blue", marker: "circle", width: 3 },
  { colour: "orange", marker: "square", width: 2, dash: [8, 4] },
] as const;

/** Return the charts of rate, ratio of the rates, and times, with both runs in each. */
export function diffSpecs(diff: Diff): Spec[] {
  const time = linesOfBoth(diff, (point) => point.service_ms, ms);
  const isTimed = time.some((line) => line.values.some((value) => value != null));
  const streamed = diff.stream_metrics.map((name) =>
    timed(
      diff,
      `${name}, ms`,
      linesOfBoth(diff, (point) => point.stream?.[name] ?? null, ms),
    ),
  );
  return [
    {
      ...base(diff, translate("ladder.rate")),
      lines: linesOfBoth(diff, (point) => point.ok_per_s, rate),
    },
    ratio(diff),
    ...(isTimed ? [timed(diff, translate("diff.time"), time)] : []),
    ...streamed,
  ];
}

function timed(diff: Diff, title: string, lines: Line[]): Spec {
  const isLog = spansFar(lines.flatMap((line) => line.values));
  return { ...base(diff, title), lines, y: { scale: isLog ? "log" : "zero", hasSwitch: true } };
}

function linesOfBoth(
  diff: Diff,
  read: (point: Point) => number | null,
  show: (v: number) => string,
): Line[] {
  return diff.sides.map((side, at) => {
    const byLevel = new Map(side.points.map((point) => [point.position, point]));
    const points = levels(diff).map((level) => byLevel.get(level));
    const values = points.map((point) =>
      point ? (claimedValues([point], read)[0] ?? null) : null,
    );
    const { colour, marker, width } = STYLES[at] ?? STYLES[1];
    const dash = at ? { dash: [8, 4] } : {};
    return { label: side.name, values, show, colour, marker, width, isJoined: true, ...dash };
  });
}

function ratio(diff: Diff): Spec {
  const data = ratios(diff.changes, "ok_per_s", levels(diff));
  const names = { a: diff.sides[0]?.name ?? "A", b: diff.sides[1]?.name ?? "B" };
  const show = (value: number) => `${factor(value)} ×`;
  const ends = data.intervals.flatMap((interval) => interval ?? []);
  return {
    ...base(diff, translate("diff.ratio", names)),
    height: 170,
    lines: [
      {
        label: translate("diff.ratioOf"),
        values: data.values,
        colour: "text",
        marker: "circle",
        show,
        isJoined: true,
      },
    ],
    y: { scale: "log", show, mustInclude: [...ends, 0.9, 1.1] },
    behind: [sameBand(...diff.margin), whiskers(levels(diff), data.intervals)],
  };
}

function base(diff: Diff, title: string): Spec {
  const xs = levels(diff);
  return {
    title,
    height: 220,
    xs,
    lines: [],
    x: { scale: "log", label: translate(`ladder.axis.${diff.noun}`), ticks: xs, show: compact },
    y: { scale: "zero" },
    heading: (at) => heading(diff, xs[at]),
  };
}

function heading(diff: Diff, level: number | undefined): string {
  const bounds = diff.sides.flatMap(({ name, points }) => {
    const words = points.filter((point) => point.position === level).flatMap(boundsOf);
    return words.length ? [`${name}: ${words.join(", ")}`] : [];
  });
  return [translate(`ladder.at.${diff.noun}`, { n: count(level) }), ...bounds].join(" · ");
}

function levels(diff: Diff): number[] {
  const all = diff.sides.flatMap((side) => side.points.map((point) => point.position));
  return [...new Set(all)].sort((a, b) => a - b);
}
