// Values of table cells: for sorting, and for copies as CSV and Markdown.

const UNITS: Record<string, number> = {
  ns: 1e-6,
  µs: 1e-3,
  ms: 1,
  s: 1e3,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** Return the number in a cell, in the smallest unit of its kind; null without one. */
export function numberOf(cell: string): number | null {
  const match = /^[≥≤><+\s]*([−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(ns|µs|ms|s|B|KiB|MiB|GiB)?/.exec(
    cell,
  );
  if (!match) return null;
  const value = Number((match[1] ?? "").replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(value) ? null : value * (UNITS[match[2] ?? ""] ?? 1);
}

/**
 * Return rows sorted by a column; cells without a number are last. Text columns are sorted as text,
 * unless most of their cells begin with a number: `20 connections`, `2.00 × …`.
 */
export function sorted<Row extends readonly string[]>(
  rows: readonly Row[],
  column: number,
  isText: boolean,
  isAscending: boolean,
): Row[] {
  const sign = isAscending ? 1 : -1;
  const isByText = isText && !isNumeric(rows.map((row) => row[column] ?? ""));
  return [...rows].sort((a, b) => {
    const [left, right] = [a[column] ?? "", b[column] ?? ""];
    if (isByText) return sign * left.localeCompare(right);
    const [x, y] = [numberOf(left), numberOf(right)];
    if (x == null || y == null) return Number(x == null) - Number(y == null);
    return sign * (x - y);
  });
}

/** Return whether most non-empty cells begin with a number, other than dates and hashes. */
function isNumeric(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== "" && cell !== "–");
  const numeric = filled.filter((cell) => /^[≥≤><\s]*[−-]?[\d,]*\.?\d+(?=$|[\s×x%/])/.test(cell));
  return 2 * numeric.length > filled.length;
}

/** Return a table as CSV (RFC 4180). Cells that a spreadsheet would run as formulas become text. */
export function asCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => cells.map(quoted).join(",");
  return [columns, ...rows].map(line).join("\r\n") + "\r\n";
}

/** Return a table as Markdown. */
export function asMarkdown(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  words: readonly number[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  const rule = columns.map((_, at) => (words.includes(at) ? "---" : "---:"));
  return [line(columns), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n") + "\n";
}

/** `-0.40 points` is a number; a spreadsheet reads `-2+3` as a formula. */
const NUMBER = /^[+-][\d,]*\.?\d+(e[+-]?\d+)?( ?([%×]|[A-Za-zµ]+))?$/;

function quoted(cell: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(cell) && !NUMBER.test(cell);
  const safe = isFormula ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Escape a cell in the same way as torr's Markdown files: a test compares both. */
function escaped(cell: string): string {
  const line = cell.trim().split(/\s+/).join(" ");
  return line.replace(/[\\`*[\]<>|#]|\b_|_\b|(?<!\w)_(?!\w)/g, "\\$&");
}
