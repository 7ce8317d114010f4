// Types of the JSON that Python gives the page: bootstrap data, results and views. Keys that the
// page does not read are not listed.

import type { FlameNode } from "./data/flame";
import type { HistoryData } from "./history/model";

/** The code of a language: `en`, or that of a catalogue. */
export type Lang = string;

export type Text = string | { en: string; [lang: Lang]: string };

/** The page's own words: by language, then by key. */
export type Words = Record<Lang, Record<string, string>>;

/** Values of a chart's line or of a column; null where there is none. */
export type Values = (number | null)[];

export interface Stats {
  n: number;
  mean?: number | null;
  min?: number | null;
  max?: number | null;
  p50?: number | null;
  p95?: number | null;
  p99?: number | null;
}

export interface Counts {
  attempted?: number;
  ok?: number;
  dropped?: number;
  in_flight?: number;
  errors?: Record<string, number>;
}

/** Times by their names, each with the ending `_ms`. */
type Times = Partial<Record<`${string}_ms`, Stats | null>>;

export type Stream = Times & {
  tokens_per_s?: number | null;
  tokens_out?: number | null;
};

export interface Interval {
  t_s: number;
  seconds: number;
  phase: "warmup" | "measure" | "drain";
  counts: Counts;
  ok_per_s?: number | null;
  attempted_per_s?: number | null;
  connections_open?: number | null;
  latency?: Times;
  stream?: Stream | null;
  /** The nodes that sent the load, if there were any. */
  nodes?: { name: string; ok_per_s: number }[];
}

export interface Sample {
  class?: string;
  reason?: string | null;
  name?: string | null;
  detail?: string;
  t_s?: number | null;
  head?: string;
  body?: string;
}

export interface Monitor {
  t_s?: (number | null)[];
  seconds?: (number | null)[];
  cores?: { numbers?: number[]; busy_rate?: (number | null)[][] } | null;
  target?: Watched | null;
  generator?: Watched | null;
  /** LLM servers and GPUs that were named. */
  serving?: { sources?: ServingSource[] };
}

/** The quantities of an LLM server or of GPUs that are drawn over time. */
export type ServingQuantity =
  | "running"
  | "waiting"
  | "kv_cache_rate"
  | "prefix_hit_rate"
  | "preemptions_per_s"
  | "queue_ms"
  | "ttft_ms"
  | "prompt_tokens_per_s"
  | "generated_tokens_per_s"
  | "gpu_rate"
  | "gpu_memory_bytes"
  | "power_w";

/** A source with its series; those that it does not report are empty. */
export type ServingSource = Partial<Record<ServingQuantity, Values>> & {
  source: string;
  url: string;
  t_s?: number[];
  seconds?: number[];
};

export interface Watched {
  cpu_rate?: (number | null)[];
  /** Drawn for the target only. */
  rss_bytes?: (number | null)[];
}

export interface Level {
  candidate?: string | null;
  concurrency: number;
  /** How many of these are users, if the others are connections of arrivals. */
  users?: number;
  /** Arrivals per second, if there are any. */
  rate?: number | null;
  round?: number;
  intervals?: Interval[];
  samples?: Sample[];
  monitor?: Monitor | null;
  /** The times of streams to draw over time while the level runs; then `pooled` has them. */
  stream_times?: string[];
  /** The nodes that sent the load, and the largest error of their translated times. */
  generator?: { nodes?: { clock?: { error_ms: number } | null }[] };
}

export interface Usl {
  lambda: number;
  sigma: number;
  kappa: number;
  r2: number;
}

export interface Result {
  id?: string;
  kind: string;
  name: string;
  torr?: string;
  started?: string;
  ended?: string | null;
  status?: string;
  note?: string | null;
  tags?: string[];
  environment?: unknown;
  levels: Level[];
  capacity?: { usl?: Usl | null } | null;
}

export interface Table {
  title: Text;
  columns: Text[];
  rows: Text[][];
  words: number[];
  names: number[];
  folded: boolean;
}

export interface List {
  title: Text;
  items: Text[];
  folded: boolean;
}

export interface Block {
  title: Text;
  name: Text;
  text: string;
}

export interface Distribution {
  candidate: string | null;
  cell: Text | null;
  level: number | null;
  metric: string;
  /** Whether the time is one of streams, not of whole responses. */
  of_streams: boolean;
  n: number;
  doubtful: boolean;
  points: [number, number][];
}

export type Claim = "whole" | "limited" | "cut" | "starved";

export interface Point {
  /** Users or connections, or arrivals per second. */
  position: number;
  ok_per_s: number;
  service_ms: number | null;
  success_rate: number | null;
  p95_ms: number | null;
  rounds: number;
  /** Whether the rates, and p95, are lower bounds. */
  at_least: boolean;
  p95_at_least: boolean;
  ok_per_s_range: [number, number] | null;
  p95_ms_range: [number, number] | null;
  stream?: Record<string, number>;
  claim: Claim;
}

export interface Finding {
  level: number;
  words: Text;
  kind: "peak" | "knee" | "capacity";
}

export interface Slo {
  text: string;
  metric: string;
  stat: string | null;
  limit: number;
  unit: string;
  request: string | null;
}

export interface Ladder {
  noun: "connection" | "user" | "arrival";
  points: Point[];
  findings: Finding[];
  slos: Slo[];
  /** The metrics of streams that have a chart each, and the statistics of each to draw. */
  stream_panels: StreamPanel[];
  joined: number[];
  /** The charts of LLM servers and GPUs; values are in the order of the points. */
  serving?: ServingPanel[];
}

export interface StreamPanel {
  metric: string;
  /** Names of values of points, `ttft p95`. */
  statistics: string[];
}

export interface ServingPanel {
  title: Text;
  unit: "ms" | "rate" | "percent";
  lines: { label: Text; values: Values }[];
}

export interface Round {
  round: number;
  at: number;
  beyond: number;
  text: Text;
}

export interface Entry {
  name: Text;
  is_baseline: boolean;
  standing: string;
  word: Text;
  failure: Text | null;
  centre: number | null;
  interval: [number, number] | null;
  /** The difference in the unit of the axis. */
  amount: string;
  ratio: Text;
  interval_text: Text;
  n: number;
  rounds: Round[];
}

export interface Cell {
  words: Text;
  entries: Entry[];
}

export interface Comparison {
  metric: Text;
  is_share: boolean;
  /** Whether the metric is a rate or a time: then "better" is "faster". */
  is_speed: boolean;
  baseline: Text;
  limits: [number, number];
  margin: [number, number];
  marks: [number, string][];
  places: Cell[];
}

export interface Change {
  metric: string;
  position: number;
  baseline_value: number | null;
  value: number | null;
  ratio: number | null;
  interval: [number | null, number | null] | null;
  n: number;
  word: string | null;
}

export interface Diff {
  noun: "connection" | "user" | "arrival";
  /** Ratios between which two runs count as the same. */
  margin: [number, number];
  sides: { name: string; points: Point[] }[];
  /** Times of streams that both have: `ttft p95`. */
  stream_metrics: string[];
  changes: Change[];
}

/** What the search of a tuning saw: a dot per setting, in rows by level and by parameter. */
export interface Search {
  metric: Text;
  limits: [number, number];
  marks: [number, string][];
  dots: { at: number; text: Text; is_finalist: boolean; is_recommended: boolean }[];
  /** `dots` of a row are indexes of those above. */
  groups: { words: Text; rows: { name: Text; dots: number[] }[] }[];
}

/** A budget of a function, or a function without one, whose `budget` and `standing` are empty. */
export interface FunctionRow {
  name: string;
  budget: string;
  standing: "held" | "broken" | "not shown" | "";
  word: Text;
  amount: string;
  centre: number | null;
  interval: [number, number] | null;
  rounds: Round[];
}

export interface Functions {
  is_of_budgets: boolean;
  limits: [number, number];
  marks: [number, string][];
  left_out: number;
  rows: FunctionRow[];
}

export type Pooled = Record<string, Record<string, Partial<Stats>[]>>;

export interface View {
  sentence: Text;
  trust: { health: string; text: Text };
  command: string;
  tables: Table[];
  lists: List[];
  blocks: Block[];
  slos: Slo[];
  distributions: Distribution[];
  ladder: Ladder | null;
  comparison: Comparison | null;
  search: Search | null;
  diff: Diff | null;
  functions: Functions | null;
  pooled: Pooled;
  /** `beside` names the profile that each `was` of the tree comes from. */
  flames: { title: Text; unit: string; beside: string | null; tree: FlameNode }[];
}

export interface Run {
  result: Result;
  view: View;
}

export interface Bootstrap {
  mode: "report" | "live" | "serve";
  lang: Lang | null;
  words: Words;
  run: Run | null;
  live: { token: string | null } | null;
  stored?: HistoryData;
}
