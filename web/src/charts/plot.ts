// One chart: uPlot with axes that keep their range, markers, a tooltip for mouse and keyboard, an
// optional switch to a logarithmic scale, and the page's colours.

import uPlot from "uplot";

import { button, el } from "../dom";
import { marksOf } from "../picture/canvas";
import { saver } from "../picture/save";
import type { Values } from "../model";
import type { Mark } from "../picture/vector";
import { translate } from "../translate";
import { axisX, axisY } from "./axes";
import { legend } from "./legend";
import { colour, onRepaint, type Colour } from "./palette";
import { range, union, type Scale } from "./range";
import { drawMarker, paint, type Marker, type Shape } from "./shapes";
import { Tooltip } from "./tooltip";

// uPlot's numbers for the two kinds of scale.
const LINEAR = 1 as uPlot.Scale.Distr;
const LOGARITHMIC = 3 as uPlot.Scale.Distr;

export interface Line {
  label: string;
  values: Values;
  colour: Colour;
  /** Formats a value for the tooltip; stacked bars have `tooltipValues` of their own. */
  show: (value: number) => string;
  tooltipValues?: Values;
  dash?: number[];
  width?: number;
  marker?: Marker;
  /** Indexes of points that are drawn hollow, since they support no claim. */
  hollow?: ReadonlySet<number>;
  /** `marks` are points without a line between them; a `curve` is drawn by a shape. */
  kind?: "line" | "bars" | "marks" | "curve";
  /** Whether the line continues across missing values. */
  isJoined?: boolean;
  /** Whether the range of the y axis ignores the line. */
  isOutsideRange?: boolean;
}

export interface Spec {
  title: string;
  height: number;
  xs: number[];
  lines: Line[];
  /** Pairs of lines, the upper first, with the opacity of the fill between them. */
  bands?: [number, number, number][];
  x: {
    scale: Scale;
    label: string;
    ticks?: number[];
    show?: (value: number) => string;
    range?: [number, number];
  };
  y: {
    scale: Scale;
    hasSwitch?: boolean;
    show?: (value: number) => string;
    headroom?: number;
    mustInclude?: number[];
    top?: number;
  };
  behind?: Shape[];
  above?: Shape[];
  /** Whether a single line has a legend, because the title does not name it. */
  isNamed?: boolean;
  /** Returns the heading of the tooltip. */
  heading: (at: number) => string;
}

/** Draws a chart until it is destroyed. */
export class Plot {
  readonly element: HTMLElement;
  private readonly title = el("h3");
  private readonly box = el("div", { class: "plot", tabindex: 0, role: "img" });
  private readonly tooltip = new Tooltip();
  private readonly switch: HTMLButtonElement | null;
  private readonly stopRepaint: () => void;
  private readonly observer: ResizeObserver;
  private readonly head: HTMLElement;
  private saver: HTMLElement = el("div");
  private chart: uPlot | null = null;
  private legendBox: HTMLElement | null = null;
  /** The range that the y axis has had so far. */
  private heldRange: [number, number] | null = null;
  private isLog: boolean;
  private choices: Map<string, string> | null = null;

  constructor(private spec: Spec) {
    this.isLog = spec.y.scale === "log";
    this.box.addEventListener("keydown", (event) => this.move(event));
    this.box.addEventListener("blur", () => this.chart?.setCursor({ left: -10, top: -10 }));
    this.switch = spec.y.hasSwitch ? this.switchOfScale() : null;
    const buttons = el("div", { class: "chart-buttons" }, this.switch, this.saver);
    this.head = el("div", { class: "chart-head" }, this.title, buttons);
    this.drawHeading();
    this.element = el("div", { class: "chart" }, this.head, this.box, this.tooltip.announcement);
    this.box.style.height = `${spec.height}px`;
    this.stopRepaint = onRepaint(() => this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
  }

  /** Draw other values; the range of the y axis only grows. */
  update(spec: Spec): void {
    const isSame = structure(spec) === structure(this.spec);
    this.spec = spec;
    if (isSame) {
      this.chart?.setData(this.data());
      return;
    }
    this.drawHeading();
    this.draw();
  }

  /** Apply the scale that was chosen for a chart of this title, and record later choices. */
  useChoices(choices: Map<string, string>): void {
    this.choices = choices;
    const chosen = choices.get(`scale of ${this.spec.title}`);
    if (this.switch && chosen) this.scale(chosen === "log");
  }

  /** Remove the chart from the page. */
  destroy(): void {
    this.stopRepaint();
    this.observer.disconnect();
    this.chart?.destroy();
    this.chart = null;
    this.element.remove();
  }

  /** Write the title, the legend and the label for screen readers. */
  private drawHeading(): void {
    const { title } = this.spec;
    if (this.title.textContent !== title) {
      const buttons = saver(
        () => this.element,
        title,
        () => this.vectors(),
      );
      this.saver.replaceWith(buttons);
      this.saver = buttons;
    }
    this.title.textContent = title;
    this.box.setAttribute("aria-label", `${title}. ${translate("chart.keys")}`);
    this.legendBox?.remove();
    this.legendBox = legend(this.spec);
    if (this.legendBox) this.title.after(this.legendBox);
  }

  private switchOfScale(): HTMLButtonElement {
    return button(
      translate("chart.log"),
      () => {
        this.choices?.set(`scale of ${this.spec.title}`, this.isLog ? "plain" : "log");
        this.scale(!this.isLog);
        this.draw();
      },
      { "aria-pressed": String(this.isLog) },
    );
  }

  private scale(isLog: boolean): void {
    this.isLog = isLog;
    this.heldRange = null;
    this.switch?.setAttribute("aria-pressed", String(isLog));
  }

  private resize(): void {
    const width = this.box.clientWidth;
    if (!width) return;
    if (this.chart) this.chart.setSize({ width, height: this.spec.height });
    else this.draw();
  }

  private draw(): void {
    this.chart?.destroy();
    this.chart = null;
    const width = this.box.clientWidth;
    if (width) this.chart = new uPlot(this.options(width), this.data(), this.box);
  }

  /** Return the drawing as vectors: of a second chart of the same size that is not on the page. */
  private vectors(): Mark[] {
    const { hooks, ...options } = this.options(this.box.clientWidth);
    const drawingHooks = { drawAxes: hooks?.drawAxes, draw: hooks?.draw };
    return marksOf(
      () => new uPlot({ ...options, cursor: { show: false }, hooks: drawingHooks }, this.data()),
    );
  }

  private data(): uPlot.AlignedData {
    const isHidden = (value: number | null) => value == null || (this.isLog && value <= 0);
    return [
      this.spec.xs,
      ...this.spec.lines.map((line) =>
        line.values.map((value) => (isHidden(value) ? null : value)),
      ),
    ];
  }

  private options(width: number): uPlot.Options {
    const { spec } = this;
    const scale: Scale = this.isLog ? "log" : "zero";
    return {
      width,
      height: spec.height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 7 }, focus: { prox: -1 } },
      scales: {
        x: {
          time: false,
          distr: spec.x.scale === "log" ? LOGARITHMIC : LINEAR,
          // uPlot calls this again after an update, so it reads the current spec.
          range: () => this.spec.x.range ?? this.rangeOfX(),
        },
        y: { distr: this.isLog ? LOGARITHMIC : LINEAR, range: () => this.rangeOfY(scale) },
      },
      axes: [axisX(() => this.spec), axisY(() => this.spec, this.isLog)],
      series: [{}, ...spec.lines.map((line) => this.series(line))],
      bands: (spec.bands ?? []).map(([upper, lower, alpha]) => ({
        series: [upper + 1, lower + 1],
        fill: colour("band", alpha),
      })),
      hooks: {
        drawAxes: [(u) => paint(u, this.spec.behind)],
        draw: [
          (u) => {
            this.drawMarkers(u);
            paint(u, this.spec.above);
          },
        ],
        setCursor: [(u) => this.tooltip.show(u, this.spec)],
      },
    };
  }

  private series(line: Line): uPlot.Series {
    const stroke = colour(line.colour);
    const width = line.kind === "marks" || line.kind === "curve" ? 0 : (line.width ?? 2);
    const series: uPlot.Series = { label: line.label, stroke, width, points: { show: false } };
    if (line.dash) series.dash = line.dash;
    series.spanGaps = line.isJoined ?? false;
    if (line.kind === "bars") {
      series.fill = stroke;
      series.width = 0;
      const bars = uPlot.paths.bars?.({ size: [1, 100], align: 0 });
      if (bars) series.paths = bars;
    }
    return series;
  }

  private rangeOfX(): [number, number] {
    return range(this.spec.x.scale, this.spec.xs, {});
  }

  private rangeOfY(scale: Scale): [number, number] {
    const { headroom, mustInclude, top } = this.spec.y;
    if (top !== undefined && scale !== "log") return [0, top];
    const values = this.spec.lines
      .filter((line) => !line.isOutsideRange)
      .flatMap((line) => line.values);
    const axisRange = range(scale, [...values, ...(mustInclude ?? [])], {
      headroom: headroom ?? 1.12,
    });
    // The range of a chart without values is arbitrary, so it is not recorded.
    if (!values.some((value) => value)) return axisRange;
    this.heldRange = union(this.heldRange, axisRange);
    return this.heldRange;
  }

  /** Draw markers, also of values without neighbours, which no line shows. */
  private drawMarkers(u: uPlot): void {
    const { xs, lines } = this.spec;
    lines.forEach((line, of) => {
      if (line.kind === "bars" || line.kind === "curve") return;
      const values = u.data[of + 1] ?? [];
      values.forEach((value, at) => {
        const isAlone = !line.isJoined && values[at - 1] == null && values[at + 1] == null;
        if (value == null || !(line.marker || isAlone)) return;
        const stroke = colour(line.colour);
        const fill = line.hollow?.has(at) ? colour("background") : stroke;
        const [x, y] = [u.valToPos(xs[at] ?? 0, "x", true), u.valToPos(value, "y", true)];
        drawMarker(u, x, y, line.marker ?? "dot", { fill, stroke });
      });
    });
  }

  private move(event: KeyboardEvent): void {
    const u = this.chart;
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!u || step === undefined) return;
    event.preventDefault();
    const last = this.spec.xs.length - 1;
    const from = u.cursor.idx ?? (step > 0 ? -1 : last + 1);
    const at = Math.min(Math.max(from + step, 0), last);
    u.setCursor({ left: u.valToPos(this.spec.xs[at] ?? 0, "x"), top: u.over.clientHeight / 3 });
    this.tooltip.announce();
  }
}

/** Return the parts that cannot change on an existing chart: a difference means a new chart. */
function structure({ title, bands, lines }: Spec): string {
  return JSON.stringify([title, bands, lines.map((line) => [line.label, line.colour, line.kind])]);
}
