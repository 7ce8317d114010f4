// A page over stored runs: a breadcrumb, and a list, a run, an overlay or a trend.

import { address } from "../data/address";
import { el } from "../dom";
import type { Lang, Run } from "../model";
import type { HistoryData } from "./model";
import { languageButtons } from "../parts/head";
import { Report } from "../parts/report";
import { translate } from "../translate";
import { RunsList } from "./runs";
import { Trend } from "./trend";

interface Content {
  readonly element: HTMLElement;
  draw(): void;
}

/** Draws a page of `torr serve`. */
export class HistoryPage {
  readonly element = el("div");
  private readonly content: Content;

  constructor(
    private readonly data: HistoryData,
    run: Run | null,
    private readonly choose: (lang: Lang) => void,
  ) {
    this.content = run ? new Report(run, choose) : contentOf(data);
  }

  /** Draw the page again, as in another language. */
  draw(): void {
    // A report has its own language buttons.
    const isReport = this.content instanceof Report;
    const breadcrumb = el(
      "nav",
      { class: "breadcrumb", "aria-label": translate("history.breadcrumb") },
      ...this.breadcrumb(),
    );
    const top = isReport
      ? breadcrumb
      : el("div", { class: "top" }, breadcrumb, languageButtons(this.choose));
    this.element.replaceChildren(top, this.content.element);
    this.content.draw();
  }

  private breadcrumb(): HTMLElement[] {
    const { data } = this;
    const home = el("a", { href: "/" }, translate("history.runs"));
    if (data.page === "run") {
      return [
        home,
        link(data.name, address("/trend", { name: data.name })),
        currentPage(`${data.id}`),
      ];
    }
    if (data.page === "overlay") {
      return [home, link(data.a, runAddress(data.a)), link(data.b, runAddress(data.b))];
    }
    if (data.page === "trend") return [home, currentPage(data.ledger.name)];
    return data.page === "runs" ? [currentPage(translate("history.runs"))] : [home];
  }
}

function contentOf(data: HistoryData): Content {
  if (data.page === "runs") return new RunsList(data);
  if (data.page === "trend") return new Trend(data);
  return new Failure(data.page === "failure" ? data : { message: "", hint: null });
}

class Failure implements Content {
  readonly element = el("main");

  constructor(private readonly failure: { message: string; hint: string | null }) {}

  draw(): void {
    const { message, hint } = this.failure;
    this.element.replaceChildren(el("h1", {}, message), el("p", {}, hint));
  }
}

/** Return the address of a side of an overlay: `7:go-gin` is a candidate of run 7. */
function runAddress(side: string): string {
  return `/runs/${encodeURIComponent(side.split(":")[0] ?? "")}`;
}

function link(words: string, href: string): HTMLElement {
  return el("a", { href }, words);
}

function currentPage(words: string): HTMLElement {
  return el("span", { "aria-current": "page" }, words);
}
