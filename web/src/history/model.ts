// Types of the JSON for pages over stored runs, which python/torr/webserver/history writes.

import type { Table, Text } from "../model";

/** A stored run in a list; its numbers are those of its best level. */
export interface StoredRun {
  id: number;
  name: string;
  kind: string;
  status: string;
  started: string;
  git_commit: string | null;
  note: string | null;
  tags: string[];
  concurrency: number | null;
  rate?: number | null;
  rounds: number | null;
  ok_per_s: number | null;
  p95_ms: number | null;
  success_rate: number | null;
  health: string | null;
  at_least: boolean | null;
}

/** The filter of a list. */
export type RunFilter = Record<"name" | "tag" | "commit" | "since", string | null>;

/** A run of a session; its numbers are medians of its trials. */
export interface SessionRun {
  run: number;
  started: string;
  git_commit: string | null;
  note: string | null;
  ok_per_s: number | null;
  p95_ms: number | null;
  ok_per_s_range: [number, number] | null;
  p95_ms_range: [number, number] | null;
  trials: number;
  /** Whether the rates, and p95, are lower bounds. */
  at_least: boolean;
  p95_at_least: boolean;
  reason: { text: string } | null;
}

export interface Ledger {
  name: string;
  request: string | null;
  concurrency: number | null;
  baseline: SessionRun | null;
  entries: SessionRun[];
}

export interface RunsPage {
  page: "runs";
  runs: StoredRun[];
  more: boolean;
  asked: RunFilter;
  names: string[];
  tags: string[];
}

export interface TrendPage {
  page: "trend";
  ledger: Ledger;
  /** Multiples of the baseline between which a run counts as the same. */
  margin: [number, number];
  sentence: Text;
  table: Table;
  tag: string;
  levels: number[];
  requests: string[];
  tags: string[];
  most: number;
}

/** The data of a page over stored runs. */
export type HistoryData =
  | RunsPage
  | TrendPage
  | { page: "run"; id: number; name: string }
  | { page: "overlay"; a: string; b: string }
  | { page: "failure"; message: string; hint: string | null };
