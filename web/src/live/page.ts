// A run that goes on: how much is left, its numbers, its intervals as they come, a button that stops
// it; below, the report of what is finished. At the end only the report stays.

import { Plot } from "../charts/plot";
import { connectionsSpec, timelineSpecs } from "../charts/timeline";
import { timeline } from "../data/timeline";
import { button, el } from "../dom";
import { clock, count, ms, percent, rate } from "../format";
import type { Bootstrap, Lang } from "../model";
import { languageButtons, trust, verdict } from "../parts/head";
import { hold, type Choices } from "../parts/memory";
import { Report } from "../parts/report";
import { pick, say } from "../words";
import { Feed, type Link } from "./feed";
import { Frame } from "./frame";
import { after, axisOf, begin, latest, type LiveEvent, type Progress, type State } from "./state";

/** The live page, until the end of the run. */
export class LivePage {
  readonly element = el("div");
  private state: State;
  private plots: Plot[] = [];
  private report: Report | null = null;
  private readonly choices: Choices = new Map();
  private link: Link = "open";
  private isStopping = false;
  private parts = skeleton();
  /** The state that is on the page. */
  private drawn: State;
  private readonly frame = new Frame(() => {
    this.show();
  });
  private readonly feed = new Feed(
    (event) => {
      this.take(event);
    },
    (link) => {
      this.link = link;
      this.frame.want();
    },
  );

  constructor(
    private readonly data: Bootstrap,
    private readonly choose: (lang: Lang) => void,
  ) {
    this.state = begin(data.run);
    this.drawn = this.state;
    this.draw();
    this.feed.open();
  }

  /** Draw everything again, as in another language. */
  draw(): void {
    const putBack = hold(this.element);
    this.drawn = this.state;
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    this.parts = skeleton();
    const { top, parts } = { top: this.top(), parts: this.parts };
    this.element.replaceChildren(...(this.state.isOver ? [] : [top, parts.charts]), parts.report);
    this.intervals();
    this.status();
    this.finished();
    putBack();
  }

  private take(event: LiveEvent): void {
    this.state = after(this.state, event);
    if (this.state.isReplaced) {
      // Its page has another token, too.
      location.reload();
      return;
    }
    this.frame.want();
  }

  /** Draw what has changed since the last time. */
  private show(): void {
    const { drawn, state } = this;
    if (state.isOver !== drawn.isOver) {
      this.draw();
      return;
    }
    this.drawn = state;
    if (state.current !== drawn.current) this.intervals();
    if (state.run !== drawn.run) this.finished();
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
        el("p", {}, parts.name, ` · ${say("live.live")}`),
        languageButtons(this.choose),
      ),
      parts.verdict,
      el("div", { class: "bar" }, parts.progress, parts.left, parts.stop),
      parts.numbers,
      parts.generator,
      parts.lost,
    );
  }

  private stopButton(): HTMLButtonElement {
    const token = this.data.live?.token ?? "";
    // Without the token of the URL that torr printed a page is for looking.
    if (!token) return button("", () => undefined, { class: "stop", hidden: "" });
    const made = button(
      say(this.isStopping ? "live.stopping" : "live.stop"),
      () => {
        this.isStopping = true;
        made.disabled = true;
        made.textContent = say("live.stopping");
        void this.feed.stop(token).then((isTaken) => {
          if (isTaken) return;
          this.isStopping = false;
          made.disabled = false;
          made.textContent = say("live.stopAgain");
        });
      },
      { class: "stop" },
    );
    made.disabled = this.isStopping;
    return made;
  }

  private status(): void {
    const { name, progress, left, numbers, lost, verdict: verdictBox } = this.parts;
    name.textContent = this.state.run?.result.name ?? "torr";
    const known = this.state.progress;
    lost.textContent = this.link === "open" ? "" : say(`live.${this.link}`);
    const interval = latest(this.state);
    numbers.replaceChildren(...figures(interval));
    if (!known) return;
    this.generator(known);
    if (known.levels !== 1 && !verdictBox.hasChildNodes())
      verdictBox.replaceChildren(el("p", {}, say("live.none")));
    const whole = known.done_s + (known.left_s ?? 0);
    progress.max = whole || 1;
    progress.value = known.done_s;
    const level = { at: known.level + 1, of: known.levels ?? "?" };
    const words = [
      known.left_s == null
        ? say("live.done", { t: clock(known.done_s) })
        : say("live.left", { t: clock(known.left_s) }),
      (known.levels ?? 2) > 1 ? say("live.level", level) : "",
      known.is_warmup ? say("time.warmup") : "",
    ];
    left.textContent = words.filter(Boolean).join(" · ");
  }

  /** What the newest interval shows of the generator; nothing between levels, when it rests. */
  private generator({ generator }: Progress): void {
    const said = generator ? [trust(generator.health, pick(generator.text))] : [];
    this.parts.generator.replaceChildren(...said);
  }

  /** The intervals of the level being measured, on an axis that is as long as the level will be. */
  private intervals(): void {
    const { current, progress, at } = this.state;
    const plan = progress?.level === at ? progress : null;
    const found = current ? timeline([current], {}, plan?.from_s) : null;
    if (!found) return;
    const connections = connectionsSpec(found);
    const specs = [
      ...timelineSpecs(found, this.state.run?.view.slos),
      ...(connections ? [connections] : []),
    ];
    for (const spec of specs) spec.x.range = axisOf(plan, spec.x.range ?? [0, 1]);
    if (specs.length === this.plots.length) {
      specs.forEach((spec, at) => this.plots[at]?.update(spec));
      return;
    }
    for (const plot of this.plots) plot.destroy();
    this.plots = specs.map((spec) => new Plot(spec));
    for (const plot of this.plots) plot.remember(this.choices);
    this.parts.charts.replaceChildren(...this.plots.map((plot) => plot.element));
  }

  private finished(): void {
    const { run, isOver } = this.state;
    if (!run || (!run.result.levels.length && !isOver)) return;
    this.parts.verdict.replaceChildren(...verdict(run));
    // While it goes on the verdict stands above the charts, where it is seen.
    this.report ??= new Report(run, this.choose);
    // An element that is put where it is loses the focus.
    if (this.report.element.parentElement !== this.parts.report)
      this.parts.report.replaceChildren(this.report.element);
    this.report.draw(run, isOver);
  }
}

function skeleton() {
  return {
    name: el("strong"),
    progress: el("progress", { max: 1, "aria-label": say("live.progress") }),
    left: el("span", { class: "left" }),
    stop: el("button"),
    verdict: el("div", { class: "so-far" }),
    numbers: el("p", { class: "figures" }),
    generator: el("div", { class: "generator" }),
    lost: el("p", { class: "lost", role: "status" }),
    charts: el("figure", { class: "main live-charts", "aria-label": say("live.live") }),
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
    [stat ?? say("live.mean"), ms(time)],
    [say("live.errors"), ended ? `${count(failed)} (${percent((100 * failed) / ended)})` : "–"],
  ];
  return pairs.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, value)));
}
