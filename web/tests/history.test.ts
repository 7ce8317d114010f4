import { describe, expect, it } from "vitest";

import { address, runsAddress } from "../src/data/address";
import { commitSpans, shortCommit } from "../src/data/trend";

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
