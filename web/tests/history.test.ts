import { describe, expect, it } from "vitest";

import { trendSpecs } from "../src/charts/trend";
import { address, runsAddress } from "../src/data/address";
import { commitSpans, shortCommit } from "../src/data/trend";
import type { SessionRun } from "../src/history/model";

const run = (git_commit: string | null) => ({ git_commit });

describe("commits", () => {
  it("span neighbouring runs", () => {
    const runs = [run("aaaaaaaaaa"), run("aaaaaaaaaa"), run("bbbbbbbbbb"), run("aaaaaaaaaa")];
    expect(commitSpans(runs)).toEqual([
      { from: 0.5, to: 2.5, words: "aaaaaaaa" },
      { from: 2.5, to: 3.5, words: "bbbbbbbb" },
      { from: 3.5, to: 4.5, words: "aaaaaaaa" },
    ]);
  });

  it("may be unknown, which counts as a commit of its own", () => {
    expect(commitSpans([run(null), run(null), run("c")]).map((span) => span.to)).toEqual([
      2.5, 3.5,
    ]);
    expect(commitSpans([])).toEqual([]);
    expect(shortCommit(null)).toBe("–");
  });
});

describe("runs in order", () => {
  it("are hollow in the chart whose numbers are lower bounds", () => {
    const entry = (run: number, more: Partial<SessionRun>): SessionRun => ({
      run,
      started: "2026-01-31T12:00:00.000Z",
      git_commit: null,
      note: null,
      ok_per_s: 100,
      p95_ms: 9,
      ok_per_s_range: null,
      p95_ms_range: null,
      trials: 1,
      at_least: false,
      p95_at_least: false,
      reason: null,
      ...more,
    });
    const entries = [entry(1, {}), entry(2, { at_least: true }), entry(3, { p95_at_least: true })];
    const ledger = { name: "api", request: null, concurrency: 8, baseline: null, entries };
    const charts = trendSpecs(ledger, [0.95, 1.05]);
    expect(charts.map((chart) => [...(chart.lines[0]?.hollow ?? [])])).toEqual([[1], [2]]);
  });
});

describe("addresses", () => {
  it("contain the given values only", () => {
    expect(address("/trend", { name: "a&b c", at: 50, request: null, baseline: "" })).toBe(
      "/trend?name=a%26b+c&at=50",
    );
    expect(address("/")).toBe("/");
  });

  it("have a parameter for each tag", () => {
    expect(runsAddress("/", { name: "", tag: " main  a/b " })).toBe("/?tag=main&tag=a%2Fb");
    expect(runsAddress("/", { name: "api", tag: "x" })).toBe("/?name=api&tag=x");
    expect(runsAddress("/", { tag: null, since: "7d" })).toBe("/?since=7d");
  });
});
