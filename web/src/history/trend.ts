// The trend of all runs of a name against the baseline, and the tuning ledger.

import { Plot } from "../charts/plot";
import { trendSpecs } from "../charts/trend";
import { address } from "../data/address";
import { el, select } from "../dom";
import type { TrendPage } from "./model";
import { table } from "../parts/table";
import { localized, translate, type Key } from "../translate";

/** Draws the trend of a name and its ledger. */
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
      el("h1", {}, localized(sentence)),
      ledger.baseline ? "" : el("p", { class: "note" }, translate("trend.noBaseline", { tag })),
      this.choices(),
      el(
        "figure",
        { class: "main", "aria-label": localized(sentence) },
        ...this.plots.map((plot) => plot.element),
      ),
      table(rows, true, { links: { 0: (id) => `/runs/${encodeURIComponent(id)}` } }),
      ledger.entries.length >= most ? el("p", {}, translate("runs.more", { n: most })) : "",
    );
  }

  /** Return the choice of level, request and baseline, each only if there are several. */
  private choices(): HTMLElement {
    const { ledger, levels, requests, tags, tag } = this.page;
    const current = { at: ledger.concurrency, request: ledger.request, baseline: tag };
    const open = (change: Partial<Record<keyof typeof current, string>>) => {
      location.assign(address("/trend", { name: ledger.name, ...current, ...change }));
    };
    const fields: [keyof typeof current, Key, string, readonly string[]][] = [
      ["at", "trend.level", translate("trend.best"), levels.length > 1 ? levels.map(String) : []],
      ["request", "trend.request", translate("trend.all"), requests.length > 1 ? requests : []],
      ["baseline", "trend.tag", "", tags.length ? [...new Set([tag, ...tags])] : []],
    ];
    const selects = fields
      .filter(([, , , values]) => values.length)
      .map(([key, label, emptyLabel, values]) => {
        const options = values.map((value) => [value, value] as const);
        const all = emptyLabel ? [["", emptyLabel] as const, ...options] : options;
        const choose = (value: string) => open({ [key]: value });
        const parts = select(
          `choice-${key}`,
          translate(label),
          all,
          `${current[key] ?? ""}`,
          choose,
        );
        return el("div", {}, ...parts);
      });
    return el("div", { class: "filters" }, ...selects);
  }
}
