// Cells of tables as values: what a column is sorted by, and what is copied.

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

/** The number that a cell says, in the smallest unit of its kind; null where it says none. */
export function numberOf(cell: string): number | null {
  const match = /^[≥≤><+\s]*([−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(ns|µs|ms|s|B|KiB|MiB|GiB)?/.exec(
    cell,
  );
  if (!match) return null;
  const value = Number((match[1] ?? "").replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(value) ? null : value * (UNITS[match[2] ?? ""] ?? 1);
}

/**
 * The order of rows by one column, ascending or not; cells without a number come last. Words are
 * ordered as text, unless most of them are numbers of something: `20 connections`, `2.00 × …`.
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

/** Whether cells of words begin with numbers, most of those that say anything; no dates, no hashes. */
function isNumeric(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== "" && cell !== "–");
  const numeric = filled.filter((cell) => /^[≥≤><\s]*[−-]?[\d,]*\.?\d+(?=$|[\s×x%/])/.test(cell));
  return 2 * numeric.length > filled.length;
}

/** A table as CSV, RFC 4180. What a spreadsheet would take for a formula is kept as text. */
export function asCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => cells.map(quoted).join(",");
  return [columns, ...rows].map(line).join("\r\n") + "\r\n";
}

/** A table as Markdown. */
export function asMarkdown(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  words: readonly number[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  const rule = columns.map((_, at) => (words.includes(at) ? "---" : "---:"));
  return [line(columns), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n") + "\n";
}

/** `-0.40 points` is a number; `-2+3` is a formula to a spreadsheet. */
const NUMBER = /^[+-][\d,]*\.?\d+(e[+-]?\d+)?( ?([%×]|[A-Za-zµ]+))?$/;

function quoted(cell: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(cell) && !NUMBER.test(cell);
  const safe = isFormula ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The same as torr's own Markdown: a test reads both from one table. */
function escaped(cell: string): string {
  const line = cell.trim().split(/\s+/).join(" ");
  return line.replace(/[\\`*[\]<>|#]|\b_|_\b|(?<!\w)_(?!\w)/g, "\\$&");
}
