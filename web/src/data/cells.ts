// Cells of tables as values: what a column is sorted by, and what is copied.

const UNITS: Record<string, number> = {
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
  const found = /^[≥≤><+\s]*([−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(µs|ms|s|B|KiB|MiB|GiB)?/.exec(
    cell,
  );
  if (!found) return null;
  const value = Number((found[1] ?? "").replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(value) ? null : value * (UNITS[found[2] ?? ""] ?? 1);
}

/** The order of rows by one column, ascending or not; cells without a number come last. */
export function sorted<Row extends readonly string[]>(
  rows: readonly Row[],
  column: number,
  isText: boolean,
  isAscending: boolean,
): Row[] {
  const sign = isAscending ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [left, right] = [a[column] ?? "", b[column] ?? ""];
    if (isText) return sign * left.localeCompare(right);
    const [x, y] = [numberOf(left), numberOf(right)];
    if (x == null || y == null) return Number(x == null) - Number(y == null);
    return sign * (x - y);
  });
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

function quoted(cell: string): string {
  const safe = /^[=@\t\r]|^[+-](?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function escaped(cell: string): string {
  return cell.replace(/[\\|<>`*_]/g, "\\$&").replace(/\r?\n/g, " ");
}
