// A table that is sorted by a click on a column's name, and copied as CSV or Markdown.

import { asCsv, asMarkdown, sorted } from "../data/cells";
import { button, copy, el } from "../dom";
import type { Table } from "../model";
import { english, localized, translate } from "../translate";
import type { Choices } from "./viewstate";

/** Optional features of a table: links in cells, rows to choose, an order that is stored. */
export interface Extras {
  /** Returns the address that a cell of a column links to; null for none. */
  links?: Record<number, (cell: string, row: readonly string[]) => string | null>;
  /** Called when a row is chosen or not, with its first cell. */
  choose?: (cell: string, isChosen: boolean) => void;
  /** Stores the chosen order while the page is drawn again. */
  choices?: Choices;
}

/** Return the table below its title. */
export function table(content: Table, hasTitle = true, extras: Extras = {}): HTMLElement {
  const columns = content.columns.map(localized);
  const originalRows = content.rows.map((row) => row.map(localized));
  const selected = new Set<string>();
  let rows = originalRows;
  const body = el("tbody");
  const headers = columns.map((name, at) => head(content, name, at, toggle));
  const orderKey = `order of ${english(content.title)}`;
  restore();
  fill();

  function restore(): void {
    const [name, direction] = (extras.choices?.get(orderKey) ?? "").split("\n");
    const column = content.columns.findIndex((text) => english(text) === name);
    if (column >= 0 && direction) sort(column, direction);
  }

  function toggle(column: number): void {
    const state = headers[column]?.getAttribute("aria-sort");
    const next = state === "descending" ? "ascending" : state === "ascending" ? null : "descending";
    extras.choices?.set(orderKey, next ? `${english(content.columns[column] ?? "")}\n${next}` : "");
    sort(column, next);
    fill();
  }

  function sort(column: number, next: string | null): void {
    for (const other of headers) other.removeAttribute("aria-sort");
    if (next) headers[column]?.setAttribute("aria-sort", next);
    rows = next
      ? sorted(originalRows, column, content.words.includes(column), next === "ascending")
      : originalRows;
  }

  function fill(): void {
    body.replaceChildren(
      ...rows.map((row) =>
        el(
          "tr",
          {},
          chooser(row, extras, selected),
          ...row.map((cell, at) => data(content, cell, at, extras.links?.[at]?.(cell, row))),
        ),
      ),
    );
  }

  const title = localized(content.title);
  const corner =
    extras.choose &&
    el("th", {}, el("span", { class: "visually-hidden" }, translate("table.choose")));
  const drawn = el("table", {}, el("thead", {}, el("tr", {}, corner, ...headers)), body);
  const scroll = el(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": title },
    drawn,
  );
  const buttons = el(
    "div",
    { class: "copy-buttons" },
    copier(translate("copy.as", { what: "CSV" }), title, () => asCsv(columns, rows)),
    copier(translate("copy.as", { what: "Markdown" }), title, () =>
      asMarkdown(columns, rows, content.words),
    ),
  );
  return el(
    "section",
    { class: "data-table" },
    el("div", { class: "table-head" }, hasTitle && el("h2", {}, title), buttons),
    scroll,
  );
}

/** Return a button that copies the text that `text` returns when it is pressed. */
export function copier(words: string, of: string, text: () => string): HTMLButtonElement {
  const element = button(
    words,
    () => {
      void copy(text()).then((isCopied) => {
        element.textContent = translate(isCopied ? "copy.done" : "copy.failed");
        setTimeout(() => (element.textContent = words), 1500);
      });
    },
    { "aria-label": `${words}: ${of}` },
  );
  return element;
}

function head(
  content: Table,
  name: string,
  at: number,
  sort: (column: number) => void,
): HTMLElement {
  const sorter = button(name, () => sort(at));
  const element = el("th", { scope: "col", class: kind(content, at) }, name ? sorter : null);
  if (!name) element.append(el("span", { class: "visually-hidden" }, translate("table.row")));
  return element;
}

function chooser(
  row: readonly string[],
  { choose }: Extras,
  selected: Set<string>,
): HTMLElement | null {
  const name = row[0];
  if (!choose || name === undefined) return null;
  const box = el("input", {
    type: "checkbox",
    checked: selected.has(name),
    "aria-label": `${translate("table.choose")} ${name}`,
  });
  box.addEventListener("change", () => {
    if (box.checked) selected.add(name);
    else selected.delete(name);
    choose(name, box.checked);
  });
  return el("td", {}, box);
}

function data(content: Table, cell: string, at: number, href?: string | null): HTMLElement {
  const element = el("td", { class: kind(content, at) });
  if (href && cell) {
    element.append(el("a", { href }, cell));
    return element;
  }
  if (!content.names.includes(at)) {
    element.textContent = cell;
    return element;
  }
  cell.split("_").forEach((part, index) => {
    if (index) element.append("_", el("wbr"));
    element.append(part);
  });
  return element;
}

function kind(content: Table, column: number): string | null {
  if (!content.words.includes(column)) return null;
  if (content.names.includes(column)) return "text name";
  const isLong = content.rows.some((row) => localized(row[column] ?? "").length > 40);
  return isLong ? "text long" : "text";
}
