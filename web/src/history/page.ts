// A page over kept runs: the way back above, and below it a list, a run, an overlay or a trend.

import { address } from "../data/address";
import { el } from "../dom";
import type { Lang, Run } from "../model";
import type { Kept } from "./model";
import { languageButtons } from "../parts/head";
import { Report } from "../parts/report";
import { say } from "../words";
import { RunsList } from "./runs";
import { Trend } from "./trend";

interface Content {
  readonly element: HTMLElement;
  draw(): void;
}

/** One of the pages of `torr serve`. */
export class HistoryPage {
  readonly element = el("div");
  private readonly content: Content;

  constructor(
    private readonly kept: Kept,
    run: Run | null,
    private readonly choose: (lang: Lang) => void,
  ) {
    this.content = run ? new Report(run, choose) : contentOf(kept);
  }

  /** Draw everything again, as in another language. */
  draw(): void {
    // A report has the choice of languages itself.
    const isReport = this.content instanceof Report;
    const way = el("nav", { class: "way", "aria-label": say("kept.way") }, ...this.way());
    const top = isReport ? way : el("div", { class: "top" }, way, languageButtons(this.choose));
    this.element.replaceChildren(top, this.content.element);
    this.content.draw();
  }

  private way(): HTMLElement[] {
    const { kept } = this;
    const home = el("a", { href: "/" }, say("kept.runs"));
    if (kept.page === "run") {
      return [home, link(kept.name, address("/trend", { name: kept.name })), here(`${kept.id}`)];
    }
    if (kept.page === "overlay") {
      return [home, link(kept.a, runAddress(kept.a)), link(kept.b, runAddress(kept.b))];
    }
    if (kept.page === "trend") return [home, here(kept.ledger.name)];
    return kept.page === "runs" ? [here(say("kept.runs"))] : [home];
  }
}

function contentOf(kept: Kept): Content {
  if (kept.page === "runs") return new RunsList(kept);
  if (kept.page === "trend") return new Trend(kept);
  return new Failure(kept.page === "failure" ? kept : { message: "", hint: null });
}

class Failure implements Content {
  readonly element = el("main");

  constructor(private readonly said: { message: string; hint: string | null }) {}

  draw(): void {
    const { message, hint } = this.said;
    this.element.replaceChildren(el("h1", {}, message), el("p", {}, hint));
  }
}

/** Where a side of an overlay is: what stands behind a colon names a candidate of its run. */
function runAddress(side: string): string {
  return `/runs/${encodeURIComponent(side.split(":")[0] ?? "")}`;
}

function link(words: string, href: string): HTMLElement {
  return el("a", { href }, words);
}

function here(words: string): HTMLElement {
  return el("span", { "aria-current": "page" }, words);
}
