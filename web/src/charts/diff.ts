// Two runs over the same levels, and how far apart they are: the second as a multiple of the first.

import { joined, spansFar } from "../data/ladder";
import { ratios } from "../data/diff";
import { count, factor, ms, rate, short } from "../format";
import type { Diff, Point } from "../model";
import { say } from "../words";
import type { Line, Spec } from "./plot";
import { sameBand, whiskers } from "./shapes";

const LOOKS = [
  { colour: "blue", marker: "circle", width: 3 },
  { colour: "orange", marker: "square", width: 2, dash: [8, 4] },
] as const;

/** Both runs overlaid, rate and time, with the ratio of the rates below. */
export function diffSpecs(diff: Diff): Spec[] {
  const time = both(diff, (point) => point.service_ms, ms);
  const isLog = spansFar(time.flatMap((line) => line.values));
  const isTimed = time.some((line) => line.values.some((value) => value != null));
  return [
    { ...base(diff, say("ladder.rate")), lines: both(diff, (point) => point.ok_per_s, rate) },
    ratio(diff),
    ...(isTimed
      ? [
          {
            ...base(diff, say("diff.time")),
            lines: time,
            y: { scale: isLog ? ("log" as const) : ("zero" as const), hasSwitch: true },
          },
        ]
      : []),
  ];
}

function both(
  diff: Diff,
  read: (point: Point) => number | null,
  show: (v: number) => string,
): Line[] {
  return diff.sides.map((side, at) => {
    const known = new Map(side.points.map((point) => [point.concurrency, point]));
    const points = levels(diff).map((level) => known.get(level));
    const values = points.map((point) => (point ? (joined([point], read)[0] ?? null) : null));
    const { colour, marker, width } = LOOKS[at] ?? LOOKS[1];
    const dash = at ? { dash: [8, 4] } : {};
    return { label: side.name, values, show, colour, marker, width, isJoined: true, ...dash };
  });
}

function ratio(diff: Diff): Spec {
  const found = ratios(diff.changes, "ok_per_s", levels(diff));
  const names = { a: diff.sides[0]?.name ?? "A", b: diff.sides[1]?.name ?? "B" };
  const show = (value: number) => `${factor(value)} ×`;
  const ends = found.intervals.flatMap((interval) => interval ?? []);
  return {
    ...base(diff, say("diff.ratio", names)),
    height: 170,
    lines: [
      {
        label: say("diff.ratioOf"),
        values: found.values,
        colour: "ink",
        marker: "circle",
        show,
        isJoined: true,
      },
    ],
    y: { scale: "log", show, holds: [...ends, 0.9, 1.1] },
    behind: [sameBand(...diff.margin), whiskers(levels(diff), found.intervals)],
  };
}

function base(diff: Diff, title: string): Spec {
  const xs = levels(diff);
  return {
    title,
    height: 220,
    xs,
    lines: [],
    x: { scale: "log", label: say(`ladder.axis.${diff.noun}`), ticks: xs, show: short },
    y: { scale: "zero" },
    heading: (at) => say(`ladder.at.${diff.noun}`, { n: count(xs[at]) }),
  };
}

function levels(diff: Diff): number[] {
  const every = diff.sides.flatMap((side) => side.points.map((point) => point.concurrency));
  return [...new Set(every)].sort((a, b) => a - b);
}
