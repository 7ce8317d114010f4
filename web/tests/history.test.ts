import { describe, expect, it } from "vitest";

import { address, listed } from "../src/data/address";
import { commits, short } from "../src/data/trend";

const run = (git_commit: string | null) => ({ git_commit });

describe("commits", () => {
  it("span the neighbours that have them", () => {
    const runs = [run("aaaaaaaaaa"), run("aaaaaaaaaa"), run("bbbbbbbbbb"), run("aaaaaaaaaa")];
    expect(commits(runs)).toEqual([
      { from: 0.5, to: 2.5, words: "aaaaaaaa" },
      { from: 2.5, to: 3.5, words: "bbbbbbbb" },
      { from: 3.5, to: 4.5, words: "aaaaaaaa" },
    ]);
  });

  it("may be unknown, which is one of its own", () => {
    expect(commits([run(null), run(null), run("c")]).map((span) => span.to)).toEqual([2.5, 3.5]);
    expect(commits([])).toEqual([]);
    expect(short(null)).toBe("–");
  });
});

describe("addresses", () => {
  it("say what is asked for, and nothing that is not", () => {
    expect(address("/trend", { name: "a&b c", at: 50, request: null, baseline: "" })).toBe(
      "/trend?name=a%26b+c&at=50",
    );
    expect(address("/")).toBe("/");
  });

  it("have each tag by itself", () => {
    expect(listed("/", { name: "", tag: " main  a/b " })).toBe("/?tag=main&tag=a%2Fb");
    expect(listed("/", { name: "api", tag: "x" })).toBe("/?name=api&tag=x");
    expect(listed("/", { tag: null, since: "7d" })).toBe("/?since=7d");
  });
});
