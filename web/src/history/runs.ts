// All kept runs, the newest first: found by name, tag, commit and age, opened, or two overlaid.

import { address, listed } from "../data/address";
import { short } from "../data/trend";
import { button, el } from "../dom";
import { count, ms, percent, rate } from "../format";
import type { Table } from "../model";
import type { Asked, KeptRun, RunsPage } from "./model";
import { table } from "../parts/table";
import { say, type Key } from "../words";

const COLUMNS: readonly Key[] = [
  ...(["runs.run", "runs.when", "runs.name", "runs.kind", "runs.status", "runs.at"] as const),
  ...(["runs.rate", "runs.p95", "runs.success", "runs.commit", "runs.tags", "runs.note"] as const),
];
const WORDS = [1, 2, 3, 4, 9, 10, 11];
const NAME = 2;
const KIND = 3;
/** Kinds that have one setting a run: comparisons, diffs and functions are no rounds of a session. */
const TUNED = new Set(["run", "ladder", "locust"]);

/** The list, and what it can be narrowed down by. */
export class RunsList {
  readonly element = el("main");
  private chosen: string[] = [];
  private overlay = el("button");

  constructor(private readonly page: RunsPage) {}

  /** Draw the list. */
  draw(): void {
    const { runs, more } = this.page;
    this.chosen = [];
    this.overlay = this.overlayButton();
    this.element.replaceChildren(
      el("h1", {}, this.heading()),
      this.finder(),
      runs.length ? el("p", { class: "act" }, this.overlay, say("runs.overlayHint")) : "",
      runs.length ? this.list(runs) : el("p", {}, say("runs.none")),
      more ? el("p", {}, say("runs.more", { n: count(runs.length) })) : "",
    );
  }

  private heading(): string {
    const { runs, more } = this.page;
    const n = `${more ? "> " : ""}${count(runs.length)}`;
    return say(runs.length === 1 && !more ? "runs.one" : "runs.several", { n });
  }

  private list(runs: readonly KeptRun[]): HTMLElement {
    const found: Table = {
      title: say("kept.runs"),
      columns: COLUMNS.map((key) => say(key)),
      rows: runs.map(cells),
      words: WORDS,
      names: [],
      folded: false,
    };
    return table(found, false, {
      links: {
        0: (id) => `/runs/${encodeURIComponent(id)}`,
        [NAME]: (name, row) => (TUNED.has(row[KIND] ?? "") ? address("/trend", { name }) : null),
      },
      choose: (id, isChosen) => {
        this.chosen = this.chosen.filter((other) => other !== id).concat(isChosen ? [id] : []);
        this.overlay.disabled = this.chosen.length !== 2;
      },
    });
  }

  private overlayButton(): HTMLButtonElement {
    const made = button(say("runs.overlay"), () => {
      // The older one is what the newer one is set beside.
      const [a, b] = this.chosen.map(Number).sort((x, y) => x - y);
      location.assign(address("/overlay", { a, b }));
    });
    made.disabled = true;
    return made;
  }

  private finder(): HTMLElement {
    const { asked, names, tags } = this.page;
    const fields = {
      name: field("runs.name", asked.name, names),
      tag: field("runs.tags", asked.tag, tags),
      commit: field("runs.commit", asked.commit),
      since: field("runs.since", asked.since),
    };
    const made = el(
      "form",
      { class: "finder", role: "search" },
      ...Object.values(fields).map((each) => each.element),
      el("button", { type: "submit" }, say("runs.find")),
      isNarrowed(asked) && el("a", { href: "/" }, say("runs.all")),
    );
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = Object.entries(fields).map(([key, each]) => [key, each.input.value.trim()]);
      location.assign(listed("/", Object.fromEntries(values) as Asked));
    });
    return made;
  }
}

function isNarrowed(asked: Asked): boolean {
  return Object.values(asked).some(Boolean);
}

let fieldsMade = 0;

/** A field with its label; `known` values are offered. */
function field(key: Key, value: string | null, known: readonly string[] = []) {
  const id = `field-${(fieldsMade += 1)}`;
  const options = `${id}-known`;
  const input = el("input", {
    id,
    type: "text",
    value: value ?? "",
    size: 12,
    list: known.length ? options : null,
    placeholder: key === "runs.since" ? "7d" : null,
  });
  const offered =
    known.length > 0 &&
    el("datalist", { id: options }, ...known.map((name) => el("option", { value: name })));
  const element = el("div", {}, el("label", { for: id }, say(key)), input, offered);
  return { element, input };
}

function cells(run: KeptRun): string[] {
  return [
    String(run.id),
    run.started.slice(0, 16).replace("T", " "),
    run.name,
    run.kind,
    run.status,
    run.concurrency == null ? "–" : count(run.concurrency),
    `${run.at_least ? "≥ " : ""}${rate(run.ok_per_s)}`,
    ms(run.p95_ms),
    percent(run.success_rate),
    run.git_commit ? short(run.git_commit) : "",
    run.tags.join(" "),
    run.note ?? "",
  ];
}
