// Charts of all runs of a name in order: rate and time with the range of trials, the baseline and
// the band that counts as the same.

import { commitSpans, shortCommit as shortened } from "../data/trend";
import { ms, rate } from "../format";
import type { Ledger, SessionRun } from "../history/model";
import { translate } from "../translate";
import { boundsOf } from "./ladder";
import type { Line, Spec } from "./plot";
import { borders, sameBand, whiskers, type Shape } from "./shapes";

type Range = [number, number] | null;

/** Return the charts of rate and time of the runs of a ledger. */
export function trendSpecs(ledger: Ledger, margin: [number, number]): Spec[] {
  return [
    spec(ledger, margin, {
      title: translate("trend.rate"),
      read: (run) => run.ok_per_s,
      range: (run) => run.ok_per_s_range,
      isBound: (run) => run.at_least,
      show: rate,
      colour: "blue",
    }),
    spec(ledger, margin, {
      title: translate("trend.time"),
      read: (run) => run.p95_ms,
      range: (run) => run.p95_ms_range,
      isBound: (run) => run.p95_at_least,
      show: ms,
      colour: "orange",
    }),
  ];
}

interface Measure {
  title: string;
  read: (run: SessionRun) => number | null;
  range: (run: SessionRun) => Range;
  isBound: (run: SessionRun) => boolean;
  show: (value: number) => string;
  colour: Line["colour"];
}

function spec(
  ledger: Ledger,
  [low, high]: [number, number],
  { title, read, range, isBound, show, colour }: Measure,
): Spec {
  const { entries, baseline } = ledger;
  const xs = entries.map((_, at) => at + 1);
  const ranges = entries.map(range);
  const baselineValue = baseline ? read(baseline) : null;
  const band: Shape[] =
    baselineValue == null
      ? []
      : [sameBand(baselineValue * low, baselineValue * high, baselineValue)];
  const words = baseline ? ` (${translate("trend.baseline", { n: baseline.run })})` : "";
  return {
    title: title + words,
    height: 220,
    xs,
    lines: [
      {
        label: title,
        values: entries.map(read),
        colour,
        marker: "circle",
        show,
        isJoined: true,
        hollow: new Set(entries.flatMap((run, at) => (isBound(run) ? [at] : []))),
      },
    ],
    x: {
      scale: "plain",
      label: translate("trend.axis"),
      ticks: xs,
      show: (at) => String(entries[at - 1]?.run ?? ""),
      range: [0.5, xs.length + 0.5],
    },
    y: {
      scale: "zero",
      hasSwitch: true,
      mustInclude: [...ranges.flatMap((r) => r ?? []), baselineValue ?? 0],
      headroom: 1.25,
    },
    behind: [borders(commitSpans(entries)), ...band, whiskers(xs, ranges)],
    heading: (at) => headingOf(entries[at]),
  };
}

function headingOf(run: SessionRun | undefined): string {
  if (!run) return "";
  const words = [translate("trend.run", { n: run.run }), shortened(run.git_commit)];
  words.push(translate("trend.trials", { n: run.trials }));
  if (run.note) words.push(run.note);
  words.push(...boundsOf(run));
  return words.join(" · ");
}
