import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import en from "../src/messages/en.json";
import zh from "../src/messages/zh.json";
import { fill } from "../src/words";

const SOURCE = fileURLToPath(new URL("../src", import.meta.url));
const KEYS = Object.keys(en);

const code = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(SOURCE, name), "utf8"))
  .join("\n");
// A key stands whole in the code, or begins with what stands before a value: say(`kind.${kind}`).
const whole = new Set([...code.matchAll(/"([\w.]+)"/g)].map((found) => found[1]));
const begun = [...code.matchAll(/say\(`([\w.]+\.)\$\{/g)].map((found) => found[1] ?? "");

const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort();

describe("messages", () => {
  it("are the same in both languages", () => {
    expect(Object.keys(zh).sort()).toEqual([...KEYS].sort());
  });

  it.each(KEYS)("name the same values in both languages: %s", (key) => {
    expect(names(zh[key as keyof typeof zh])).toEqual(names(en[key as keyof typeof en]));
  });

  it("are all used", () => {
    const isUsed = (key: string) => whole.has(key) || begun.some((start) => key.startsWith(start));
    expect(KEYS.filter((key) => !isUsed(key))).toEqual([]);
  });

  it("are all there", () => {
    const said = [...code.matchAll(/say\(\s*"([\w.]+)"/g)].map((found) => found[1] ?? "");
    expect(said.filter((key) => !KEYS.includes(key))).toEqual([]);
    expect(begun.filter((start) => !KEYS.some((key) => key.startsWith(start)))).toEqual([]);
  });

  it("have their values filled in, and text that looks like one left alone", () => {
    expect(fill("{n} of {m}", { n: "{m}", m: 2 })).toBe("{m} of 2");
    expect(fill("{unknown}", {})).toBe("{unknown}");
  });
});
