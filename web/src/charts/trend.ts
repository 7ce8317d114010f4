// A name's runs one after another: rate and time, each with the range of its trials, the baseline
// and what counts as the same.

import { commits, short as shortened } from "../data/trend";
import { ms, rate } from "../format";
import type { Ledger, SessionRun } from "../history/model";
import { say } from "../words";
import type { Line, Spec } from "./plot";
import { borders, sameBand, whiskers, type Shape } from "./shapes";

type Range = [number, number] | null;

/** Rate and time of every run of a ledger. */
export function trendSpecs(ledger: Ledger, margin: [number, number]): Spec[] {
  return [
    spec(ledger, margin, {
      title: say("trend.rate"),
      read: (run) => run.ok_per_s,
      range: (run) => run.ok_per_s_range,
      show: rate,
      colour: "blue",
    }),
    spec(ledger, margin, {
      title: say("trend.time"),
      read: (run) => run.p95_ms,
      range: (run) => run.p95_ms_range,
      show: ms,
      colour: "orange",
    }),
  ];
}

interface Measure {
  title: string;
  read: (run: SessionRun) => number | null;
  range: (run: SessionRun) => Range;
  show: (value: number) => string;
  colour: Line["colour"];
}

function spec(
  ledger: Ledger,
  [low, high]: [number, number],
  { title, read, range, show, colour }: Measure,
): Spec {
  const { entries, baseline } = ledger;
  const xs = entries.map((_, at) => at + 1);
  const ranges = entries.map(range);
  const known = baseline ? read(baseline) : null;
  const band: Shape[] = known == null ? [] : [sameBand(known * low, known * high, known)];
  const words = baseline ? ` (${say("trend.baseline", { n: baseline.run })})` : "";
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
        hollow: new Set(entries.flatMap((run, at) => (run.at_least ? [at] : []))),
      },
    ],
    x: {
      scale: "plain",
      label: say("trend.axis"),
      ticks: xs,
      show: (at) => String(entries[at - 1]?.run ?? ""),
      range: [0.5, xs.length + 0.5],
    },
    y: {
      scale: "zero",
      hasSwitch: true,
      holds: [...ranges.flatMap((r) => r ?? []), known ?? 0],
      headroom: 1.25,
    },
    behind: [borders(commits(entries)), ...band, whiskers(xs, ranges)],
    heading: (at) => heading(entries[at]),
  };
}

function heading(run: SessionRun | undefined): string {
  if (!run) return "";
  const words = [say("trend.run", { n: run.run }), shortened(run.git_commit)];
  words.push(say("trend.trials", { n: run.trials }));
  if (run.note) words.push(run.note);
  if (run.at_least) words.push(say("ladder.atLeast"));
  return words.join(" · ");
}
