// The list of stored runs, the newest first, with a filter and a way to overlay two runs.

import { address, runsAddress } from "../data/address";
import { shortCommit } from "../data/trend";
import { button, el } from "../dom";
import { count, ms, percent, rate } from "../format";
import type { Table } from "../model";
import type { RunFilter, StoredRun, RunsPage } from "./model";
import { table } from "../parts/table";
import { translate, type Key } from "../translate";

const COLUMNS: readonly Key[] = [
  ...(["runs.run", "runs.when", "runs.name", "runs.kind", "runs.status", "runs.at"] as const),
  ...(["runs.rate", "runs.p95", "runs.success", "runs.commit", "runs.tags", "runs.note"] as const),
];
const TEXT_COLUMNS = [1, 2, 3, 4, 9, 10, 11];
const NAME_COLUMN = 2;
const KIND_COLUMN = 3;
/** Kinds with one setting per run, so that runs of a name form a trend. */
const KINDS_WITH_TREND = new Set(["run", "ladder", "locust"]);

/** Draws the list and its filter. */
export class RunsList {
  readonly element = el("main");
  private selected: string[] = [];
  private overlay = el("button");

  constructor(private readonly page: RunsPage) {}

  /** Draw the list. */
  draw(): void {
    const { runs, more } = this.page;
    this.selected = [];
    this.overlay = this.overlayButton();
    this.element.replaceChildren(
      el("h1", {}, this.heading()),
      this.filterForm(),
      runs.length ? el("p", { class: "actions" }, this.overlay, translate("runs.overlayHint")) : "",
      runs.length ? this.list(runs) : el("p", {}, translate("runs.none")),
      more ? el("p", {}, translate("runs.more", { n: count(runs.length) })) : "",
    );
  }

  private heading(): string {
    const { runs, more } = this.page;
    const n = `${more ? "> " : ""}${count(runs.length)}`;
    return translate(runs.length === 1 && !more ? "runs.one" : "runs.several", { n });
  }

  private list(runs: readonly StoredRun[]): HTMLElement {
    const content: Table = {
      title: translate("history.runs"),
      columns: COLUMNS.map((key) => translate(key)),
      rows: runs.map(cells),
      words: TEXT_COLUMNS,
      names: [],
      folded: false,
    };
    return table(content, false, {
      links: {
        0: (id) => `/runs/${encodeURIComponent(id)}`,
        [NAME_COLUMN]: (name, row) =>
          KINDS_WITH_TREND.has(row[KIND_COLUMN] ?? "") ? address("/trend", { name }) : null,
      },
      choose: (id, isChosen) => {
        this.selected = this.selected.filter((other) => other !== id).concat(isChosen ? [id] : []);
        this.overlay.disabled = this.selected.length !== 2;
      },
    });
  }

  private overlayButton(): HTMLButtonElement {
    const element = button(translate("runs.overlay"), () => {
      // The newer run is compared with the older one.
      const [a, b] = this.selected.map(Number).sort((x, y) => x - y);
      location.assign(address("/overlay", { a, b }));
    });
    element.disabled = true;
    return element;
  }

  private filterForm(): HTMLElement {
    const { asked: filter, names, tags } = this.page;
    const fields = {
      name: field("runs.name", filter.name, names),
      tag: field("runs.tags", filter.tag, tags),
      commit: field("runs.commit", filter.commit),
      since: field("runs.since", filter.since),
    };
    const element = el(
      "form",
      { class: "filters", role: "search" },
      ...Object.values(fields).map((entry) => entry.element),
      el("button", { type: "submit" }, translate("runs.find")),
      isNarrowed(filter) && el("a", { href: "/" }, translate("runs.all")),
    );
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = Object.entries(fields).map(([key, entry]) => [key, entry.input.value.trim()]);
      location.assign(runsAddress("/", Object.fromEntries(values) as RunFilter));
    });
    return element;
  }
}

function isNarrowed(filter: RunFilter): boolean {
  return Object.values(filter).some(Boolean);
}

let fieldCount = 0;

/** Return an input field with its label and suggestions. */
function field(key: Key, value: string | null, suggestions: readonly string[] = []) {
  const id = `field-${(fieldCount += 1)}`;
  const options = `${id}-known`;
  const input = el("input", {
    id,
    type: "text",
    value: value ?? "",
    size: 12,
    list: suggestions.length ? options : null,
    placeholder: key === "runs.since" ? "7d" : null,
  });
  const datalist =
    suggestions.length > 0 &&
    el("datalist", { id: options }, ...suggestions.map((name) => el("option", { value: name })));
  const element = el("div", {}, el("label", { for: id }, translate(key)), input, datalist);
  return { element, input };
}

/** Return the best level: its users or connections, or its rate. */
function place(run: StoredRun): string {
  if (run.rate != null) return `${rate(run.rate)}/s`;
  return run.concurrency == null ? "–" : count(run.concurrency);
}

function cells(run: StoredRun): string[] {
  return [
    String(run.id),
    run.started.slice(0, 16).replace("T", " "),
    run.name,
    run.kind,
    run.status,
    place(run),
    `${run.at_least ? "≥ " : ""}${rate(run.ok_per_s)}`,
    ms(run.p95_ms),
    percent(run.success_rate),
    run.git_commit ? shortCommit(run.git_commit) : "",
    run.tags.join(" "),
    run.note ?? "",
  ];
}
