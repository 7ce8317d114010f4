// A table that sorts by a click on a column's name, and is copied as CSV or Markdown.

import { asCsv, asMarkdown, sorted } from "../data/cells";
import { button, copy, el } from "../dom";
import type { Table } from "../model";
import { english, pick, say } from "../words";
import type { Choices } from "./memory";

/** What a table may have besides: cells that lead on, rows that can be chosen, a kept order. */
export interface Extras {
  /** Where the cells of a column lead; null where one leads nowhere. */
  links?: Record<number, (cell: string, row: readonly string[]) => string | null>;
  /** What hears of a row that is chosen or not, by its first cell. */
  choose?: (cell: string, isChosen: boolean) => void;
  /** Where the order that was chosen is kept while the page is drawn anew. */
  choices?: Choices;
}

/** The table below its title. */
export function table(found: Table, hasTitle = true, extras: Extras = {}): HTMLElement {
  const columns = found.columns.map(pick);
  const given = found.rows.map((row) => row.map(pick));
  const chosen = new Set<string>();
  let rows = given;
  const body = el("tbody");
  const heads = columns.map((name, at) => head(found, name, at, turn));
  const kept = `order of ${english(found.title)}`;
  restore();
  fill();

  function restore(): void {
    const [name, direction] = (extras.choices?.get(kept) ?? "").split("\n");
    const column = found.columns.findIndex((each) => english(each) === name);
    if (column >= 0 && direction) sort(column, direction);
  }

  function turn(column: number): void {
    const state = heads[column]?.getAttribute("aria-sort");
    const next = state === "descending" ? "ascending" : state === "ascending" ? null : "descending";
    extras.choices?.set(kept, next ? `${english(found.columns[column] ?? "")}\n${next}` : "");
    sort(column, next);
    fill();
  }

  function sort(column: number, next: string | null): void {
    for (const other of heads) other.removeAttribute("aria-sort");
    if (next) heads[column]?.setAttribute("aria-sort", next);
    rows = next ? sorted(given, column, found.words.includes(column), next === "ascending") : given;
  }

  function fill(): void {
    body.replaceChildren(
      ...rows.map((row) =>
        el(
          "tr",
          {},
          chooser(row, extras, chosen),
          ...row.map((cell, at) => data(found, cell, at, extras.links?.[at]?.(cell, row))),
        ),
      ),
    );
  }

  const title = pick(found.title);
  const corner = extras.choose && el("th", {}, el("span", { class: "away" }, say("table.choose")));
  const drawn = el("table", {}, el("thead", {}, el("tr", {}, corner, ...heads)), body);
  const scroll = el(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": title },
    drawn,
  );
  const buttons = el(
    "div",
    { class: "copies" },
    copier(say("copy.as", { what: "CSV" }), title, () => asCsv(columns, rows)),
    copier(say("copy.as", { what: "Markdown" }), title, () =>
      asMarkdown(columns, rows, found.words),
    ),
  );
  return el(
    "section",
    { class: "numbers" },
    el("div", { class: "table-head" }, hasTitle && el("h2", {}, title), buttons),
    scroll,
  );
}

/** A button that copies what is there when it is pressed. */
export function copier(words: string, of: string, text: () => string): HTMLButtonElement {
  const made = button(
    words,
    () => {
      void copy(text()).then((isCopied) => {
        made.textContent = say(isCopied ? "copy.done" : "copy.failed");
        setTimeout(() => (made.textContent = words), 1500);
      });
    },
    { "aria-label": `${words}: ${of}` },
  );
  return made;
}

function head(found: Table, name: string, at: number, sort: (column: number) => void): HTMLElement {
  const sorter = button(name, () => {
    sort(at);
  });
  const made = el("th", { scope: "col", class: kind(found, at) }, name ? sorter : null);
  if (!name) made.append(el("span", { class: "away" }, say("table.row")));
  return made;
}

function chooser(
  row: readonly string[],
  { choose }: Extras,
  chosen: Set<string>,
): HTMLElement | null {
  const name = row[0];
  if (!choose || name === undefined) return null;
  const box = el("input", {
    type: "checkbox",
    checked: chosen.has(name),
    "aria-label": `${say("table.choose")} ${name}`,
  });
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(name);
    else chosen.delete(name);
    choose(name, box.checked);
  });
  return el("td", {}, box);
}

function data(found: Table, cell: string, at: number, href?: string | null): HTMLElement {
  const made = el("td", { class: kind(found, at) });
  if (href && cell) {
    made.append(el("a", { href }, cell));
    return made;
  }
  if (!found.names.includes(at)) {
    made.textContent = cell;
    return made;
  }
  cell.split("_").forEach((part, index) => {
    if (index) made.append("_", el("wbr"));
    made.append(part);
  });
  return made;
}

function kind(found: Table, column: number): string | null {
  if (!found.words.includes(column)) return null;
  if (found.names.includes(column)) return "word name";
  const isLong = found.rows.some((row) => pick(row[column] ?? "").length > 40);
  return isLong ? "word long" : "word";
}
