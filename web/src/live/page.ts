// The page of a running run: remaining time, current values, charts of intervals, a stop button,
// and below them the report of finished levels. After the end only the report remains.

import { Plot } from "../charts/plot";
import { connectionsSpec, timelineSpecs } from "../charts/timeline";
import { timeline } from "../data/timeline";
import { button, el } from "../dom";
import { clock, count, ms, percent, rate } from "../format";
import type { Bootstrap, Lang } from "../model";
import { languageButtons, trust, verdict } from "../parts/head";
import { holdViewState, type Choices } from "../parts/viewstate";
import { Report } from "../parts/report";
import { localized, translate } from "../translate";
import { Feed, type Link } from "./feed";
import { Frame } from "./frame";
import { nextState, axisRange, initialState, latest, type LiveEvent, type State } from "./state";

/** Draws the live page until the end of the run. */
export class LivePage {
  readonly element = el("div");
  private state: State;
  private plots: Plot[] = [];
  private report: Report | null = null;
  private readonly choices: Choices = new Map();
  private link: Link = "open";
  private isStopping = false;
  private parts = skeleton();
  /** The state that the page shows. */
  private drawnState: State;
  private readonly frame = new Frame(() => this.update());
  private readonly feed = new Feed(
    (event) => this.receive(event),
    (link) => {
      this.link = link;
      this.frame.schedule();
    },
  );

  constructor(
    private readonly data: Bootstrap,
    private readonly choose: (lang: Lang) => void,
  ) {
    this.state = initialState(data.run);
    this.drawnState = this.state;
    this.draw();
    this.feed.open();
  }

  /** Draw the page again, as in another language. */
  draw(): void {
    const restore = holdViewState(this.element);
    this.drawnState = this.state;
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    this.parts = skeleton();
    const { charts, report } = this.parts;
    this.element.replaceChildren(...(this.state.isOver ? [] : [this.top(), charts]), report);
    this.intervals();
    this.status();
    this.drawReport();
    restore();
  }

  private receive(event: LiveEvent): void {
    this.state = nextState(this.state, event);
    if (this.state.isReplaced) {
      // The page of another run has another token, too.
      location.reload();
      return;
    }
    this.frame.schedule();
  }

  /** Draw the changes since the last drawing. */
  private update(): void {
    const { drawnState, state } = this;
    if (state.isOver !== drawnState.isOver) {
      this.draw();
      return;
    }
    this.drawnState = state;
    if (state.current !== drawnState.current) this.intervals();
    if (state.run !== drawnState.run) this.drawReport();
    this.status();
  }

  private top(): HTMLElement {
    const { parts } = this;
    parts.stop.replaceWith((parts.stop = this.stopButton()));
    return el(
      "header",
      { class: "live" },
      el(
        "div",
        { class: "top" },
        el("p", {}, parts.name, ` · ${translate("live.live")}`),
        languageButtons(this.choose),
      ),
      parts.verdict,
      el("div", { class: "progress-row" }, parts.progress, parts.remaining, parts.stop),
      parts.numbers,
      parts.generator,
      parts.connection,
    );
  }

  private stopButton(): HTMLButtonElement {
    const token = this.data.live?.token ?? "";
    // Without the token, which is in the URL that torr printed, the page cannot stop the run.
    if (!token) return button("", () => undefined, { class: "stop", hidden: "" });
    const stop = button(
      translate(this.isStopping ? "live.stopping" : "live.stop"),
      () => {
        this.isStopping = true;
        stop.disabled = true;
        stop.textContent = translate("live.stopping");
        void this.feed.stop(token).then((wasAccepted) => {
          if (wasAccepted) return;
          this.isStopping = false;
          stop.disabled = false;
          stop.textContent = translate("live.stopAgain");
        });
      },
      { class: "stop" },
    );
    stop.disabled = this.isStopping;
    return stop;
  }

  private get hasTrials(): boolean {
    return ["compare", "tune"].includes(this.state.run?.result.kind ?? "");
  }

  private status(): void {
    const { parts, state } = this;
    parts.name.textContent = state.run?.result.name ?? "torr";
    parts.connection.textContent = this.link === "open" ? "" : translate(`live.${this.link}`);
    parts.numbers.replaceChildren(...figures(latest(state)));
    if (!state.progress) return;
    const { elapsed_s, remaining_s, level, levels, is_warmup, generator } = state.progress;
    // Between levels there is no newest interval with a state of the generator.
    const line = generator ? [trust(generator.health, localized(generator.text))] : [];
    parts.generator.replaceChildren(...line);
    if (levels !== 1 && !parts.verdict.hasChildNodes())
      parts.verdict.replaceChildren(
        el("p", {}, translate(this.hasTrials ? "live.noTrial" : "live.none")),
      );
    parts.progress.max = elapsed_s + (remaining_s ?? 0) || 1;
    parts.progress.value = elapsed_s;
    const count = { at: level + 1, of: levels ?? "?" };
    const words = [
      translate(remaining_s == null ? "live.elapsed" : "live.remaining", {
        t: clock(remaining_s ?? elapsed_s),
      }),
      (levels ?? 2) > 1 && translate(this.hasTrials ? "live.trial" : "live.level", count),
      is_warmup && translate("time.warmup"),
    ];
    parts.remaining.textContent = words.filter(Boolean).join(" · ");
  }

  /** Draw the intervals of the current level, on an axis of the level's planned length. */
  private intervals(): void {
    const { current, progress, at } = this.state;
    const plan = progress?.level === at ? progress : null;
    const data = current ? timeline([current], {}, plan?.from_s) : null;
    if (!data) return;
    const connections = connectionsSpec(data);
    const specs = [
      ...timelineSpecs(data, this.state.run?.view.slos),
      ...(connections ? [connections] : []),
    ];
    for (const spec of specs) spec.x.range = axisRange(plan, spec.x.range ?? [0, 1]);
    if (specs.length === this.plots.length) {
      specs.forEach((spec, at) => this.plots[at]?.update(spec));
      return;
    }
    for (const plot of this.plots) plot.destroy();
    this.plots = specs.map((spec) => new Plot(spec));
    for (const plot of this.plots) plot.useChoices(this.choices);
    this.parts.charts.replaceChildren(...this.plots.map((plot) => plot.element));
  }

  private drawReport(): void {
    const { run, isOver } = this.state;
    if (!run || (!run.result.levels.length && !isOver)) return;
    this.parts.verdict.replaceChildren(...verdict(run));
    // During the run the verdict is above the charts.
    this.report ??= new Report(run, this.choose);
    // Inserting an element again would take the keyboard's focus from it.
    if (this.report.element.parentElement !== this.parts.report)
      this.parts.report.replaceChildren(this.report.element);
    this.report.draw(run, isOver);
  }
}

function skeleton() {
  return {
    name: el("strong"),
    progress: el("progress", { max: 1, "aria-label": translate("live.progress") }),
    remaining: el("span", { class: "remaining" }),
    stop: el("button"),
    verdict: el("div", { class: "live-verdict" }),
    numbers: el("p", { class: "live-numbers" }),
    generator: el("div", { class: "generator" }),
    connection: el("p", { class: "connection-status", role: "status" }),
    charts: el("figure", { class: "main live-charts", "aria-label": translate("live.live") }),
    report: el("div"),
  };
}

function figures(interval: ReturnType<typeof latest>): HTMLElement[] {
  const response = interval?.latency?.response_ms;
  const failed = Object.values(interval?.counts.errors ?? {}).reduce((sum, n) => sum + n, 0);
  const ended = failed + (interval?.counts.ok ?? 0);
  const stat = (["p99", "p95", "p50"] as const).find((name) => response?.[name] != null);
  const time = stat ? response?.[stat] : (response?.mean ?? null);
  const pairs: [string, string][] = [
    ["ok/s", rate(interval?.ok_per_s ?? null)],
    [stat ?? translate("live.mean"), ms(time)],
    [
      translate("live.errors"),
      ended ? `${count(failed)} (${percent((100 * failed) / ended)})` : "–",
    ],
  ];
  return pairs.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, value)));
}
