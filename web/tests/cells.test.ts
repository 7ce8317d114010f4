import { describe, expect, it } from "vitest";

import copied from "../../tests/unit/report/files/copied.json";
import { asCsv, asMarkdown, numberOf, sorted } from "../src/data/cells";

describe("cells", () => {
  it.each([
    ["18,167", 18167],
    ["24.3 ms", 24.3],
    ["12.3 s", 12300],
    ["315 µs", 0.315],
    ["38 ns", 0.000038],
    ["≥ 3,476", 3476],
    [">99.99 %", 99.99],
    ["−0.40 points", -0.4],
    ["1.5 MiB", 1.5 * 1024 * 1024],
    ["≥ 9.60x", 9.6],
    ["2.1e-05", 2.1e-5],
  ])("contain a number: %s", (cell, number) => {
    expect(numberOf(cell)).toBeCloseTo(number, 9);
  });

  it.each(["–", "", "healthy"])("contain no number: %s", (cell) => {
    expect(numberOf(cell)).toBeNull();
  });
});

describe("sorting", () => {
  const rows = [["b", "900 ms"], ["a", "1.2 s"], ["c", "–"], ["d", "1,100 ms"]]; // prettier-ignore

  it("is by value in any unit, with empty cells last in both directions", () => {
    expect(sorted(rows, 1, false, true).map((row) => row[0])).toEqual(["b", "d", "a", "c"]);
    expect(sorted(rows, 1, false, false).map((row) => row[0])).toEqual(["a", "d", "b", "c"]);
  });

  it("of text columns is alphabetical, and does not change its input", () => {
    expect(sorted(rows, 0, true, false).map((row) => row[0])).toEqual(["d", "c", "b", "a"]);
    expect(rows[0]?.[0]).toBe("b");
  });
});

describe("sorting text", () => {
  const order = (...cells: string[]) =>
    sorted(cells.map((cell) => [cell]), 0, true, true).map(([cell]) => cell); // prettier-ignore

  it("is by number if cells begin with numbers", () => {
    expect(order("100 connections", "–", "20 connections")).toEqual([
      "20 connections",
      "100 connections",
      "–",
    ]);
    expect(order("10.00 × (9–11)", "generator-limited", "≥ 3.00 ×", "2.00 ×")).toEqual([
      "2.00 ×",
      "≥ 3.00 ×",
      "10.00 × (9–11)",
      "generator-limited",
    ]);
    expect(order("500/s", "1,000/s")).toEqual(["500/s", "1,000/s"]);
  });

  it("is alphabetical for dates, hashes and names", () => {
    expect(order("2026-01-31 10:00", "2026-01-04 11:00")[0]).toBe("2026-01-04 11:00");
    expect(order("9f", "10c")).toEqual(["10c", "9f"]);
    expect(order("b 2", "a 10", "3 c")).toEqual(["3 c", "a 10", "b 2"]);
  });
});

describe("copies", () => {
  it("quote cells as CSV requires and contain no formula", () => {
    const text = asCsv(["a", '"b"'], [["1,940", "=HYPERLINK(1)"], ["-1", "-x"]]); // prettier-ignore
    expect(text).toBe('a,"""b"""\r\n"1,940",\'=HYPERLINK(1)\r\n-1,\'-x\r\n');
  });

  it("align numbers to the right in Markdown and escape its syntax", () => {
    const text = asMarkdown(["name", "ok/s"], [["<b>|x", "1,940"]], [0]);
    expect(text).toBe("| name | ok/s |\n| --- | ---: |\n| \\<b\\>\\|x | 1,940 |\n");
  });

  it.each(copied.formulas)("contain a formula as text: %j", (cell) => {
    const prefixed = `'${cell}`;
    const written = /[",\r\n]/.test(prefixed) ? `"${prefixed.replaceAll('"', '""')}"` : prefixed;
    expect(asCsv(["a"], [[cell]])).toBe(`a\r\n${written}\r\n`);
  });

  it.each(["-0.40 points", "-1", "+7.1 %", "-2.1e-05", "+1.5 MiB", "-1,940"])(
    "leave a number a number: %s",
    (cell) => {
      expect(asCsv(["a"], [[cell]])).not.toContain("'");
    },
  );

  it.each(copied.markdown)("contain no markup: %j", (cell, written) => {
    expect(asMarkdown(["a"], [[cell]], [0])).toBe(`| a |\n| --- |\n| ${written} |\n`);
  });
});
