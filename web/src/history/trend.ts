// One name: how its runs went on, beside the baseline, and the tuning ledger of them.

import { Plot } from "../charts/plot";
import { trendSpecs } from "../charts/trend";
import { address } from "../data/address";
import { el } from "../dom";
import type { TrendPage } from "./model";
import { table } from "../parts/table";
import { pick, say, type Key } from "../words";

/** The trend of a name, and its ledger. */
export class Trend {
  readonly element = el("main");
  private plots: Plot[] = [];

  constructor(private readonly page: TrendPage) {}

  /** Draw the page, or draw it again in another language. */
  draw(): void {
    for (const plot of this.plots) plot.destroy();
    const { ledger, sentence, table: rows, tag, most } = this.page;
    this.plots = ledger.entries.length
      ? trendSpecs(ledger, this.page.margin).map((spec) => new Plot(spec))
      : [];
    this.element.replaceChildren(
      el("h1", {}, pick(sentence)),
      ledger.baseline ? "" : el("p", { class: "note" }, say("trend.noBaseline", { tag })),
      this.choices(),
      el(
        "figure",
        { class: "main", "aria-label": pick(sentence) },
        ...this.plots.map((plot) => plot.element),
      ),
      table(rows, true, { links: { 0: (id) => `/runs/${encodeURIComponent(id)}` } }),
      ledger.entries.length >= most ? el("p", {}, say("runs.more", { n: most })) : "",
    );
  }

  /** Which level, request and baseline are meant; only what there is a choice of. */
  private choices(): HTMLElement {
    const { ledger, levels, requests, tags, tag } = this.page;
    const now = { at: ledger.concurrency, request: ledger.request, baseline: tag };
    const go = (change: Partial<Record<keyof typeof now, string>>) => {
      location.assign(address("/trend", { name: ledger.name, ...now, ...change }));
    };
    const offered: [keyof typeof now, Key, string, readonly string[]][] = [
      ["at", "trend.level", say("trend.best"), levels.length > 1 ? levels.map(String) : []],
      ["request", "trend.request", say("trend.all"), requests.length > 1 ? requests : []],
      ["baseline", "trend.tag", "", tags.length ? [...new Set([tag, ...tags])] : []],
    ];
    const made = offered
      .filter(([, , , values]) => values.length)
      .map(([key, label, none, values]) =>
        choice(say(label), none, values, String(now[key] ?? ""), (value) => {
          go({ [key]: value });
        }),
      );
    return el("div", { class: "finder" }, ...made);
  }
}

let choicesMade = 0;

function choice(
  label: string,
  none: string,
  values: readonly string[],
  now: string,
  choose: (value: string) => void,
): HTMLElement {
  const id = `choice-${(choicesMade += 1)}`;
  const options = [...(none ? [["", none]] : []), ...values.map((value) => [value, value])];
  const made = el(
    "select",
    { id },
    ...options.map(([value = "", words = ""]) =>
      el("option", { value, selected: value === now }, words),
    ),
  );
  made.addEventListener("change", () => {
    choose(made.value);
  });
  return el("div", {}, el("label", { for: id }, label), made);
}
