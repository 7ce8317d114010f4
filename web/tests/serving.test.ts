import { describe, expect, it } from "vitest";

import { moreSpecs } from "../src/charts/ladder";
import { servingSpecs } from "../src/charts/serving";
import { timelineSpecs } from "../src/charts/timeline";
import { servingTimes } from "../src/data/serving";
import { timeline } from "../src/data/timeline";
import type { Level, ServingSource } from "../src/model";
import { interval, level, point } from "./builders";

const vllm = (more: Partial<ServingSource> = {}): ServingSource => ({
  source: "vllm",
  url: "http://gpu1:8000/metrics",
  t_s: [-1, 0, 1, 2],
  seconds: [1, 1, 1, 1],
  running: [1, 2, 3, 0],
  waiting: [],
  ...more,
});

const served = (concurrency: number, ...sources: ServingSource[]): Level =>
  level(concurrency, [interval(-1, { phase: "warmup" }), interval(0), interval(1)], {
    monitor: { serving: { sources } },
  });

function sourcesOf(...levels: Level[]) {
  const data = timeline(levels);
  return data ? servingTimes(levels, data) : [];
}

function specsOf(...levels: Level[]) {
  const data = timeline(levels);
  return data ? servingSpecs(servingTimes(levels, data), data) : [];
}

describe("numbers of LLM servers over time", () => {
  it("are at the middle of their own intervals, as far as the chart's axis goes", () => {
    expect(sourcesOf(served(5, vllm()))).toEqual([
      { name: "vllm", xs: [-0.5, 0.5, 1.5], columns: { running: [1, 2, 3] } },
    ]);
  });

  it("follow level after level without the warm-ups, and no line joins two levels", () => {
    const [source] = sourcesOf(served(5, vllm()), served(10, vllm({ running: [9, 7, 8, 0] })));
    expect(source?.xs).toEqual([0.5, 1.5, 2, 2.5, 3.5]);
    expect(source?.columns.running).toEqual([2, 3, null, 7, 8]);
  });

  it("have the address in their name only beside other sources", () => {
    const gpu = { ...vllm({ gpu_rate: [90, 91, 92, 93] }), source: "dcgm", url: "http://g:9400/m" };
    const local = { ...gpu, source: "nvml", url: "nvml:0" };
    expect(sourcesOf(served(5, vllm(), gpu, local)).map((source) => source.name)).toEqual([
      "vllm gpu1:8000",
      "dcgm g:9400",
      "nvml:0",
    ]);
  });

  it("are left out of levels that were not measured, and of sources that reported nothing", () => {
    const empty = { ...served(5, vllm()), intervals: [] };
    const [source] = sourcesOf(empty, served(10, vllm()));
    expect(source?.xs).toEqual([0.5, 1.5]);
    expect(sourcesOf(served(5, vllm({ running: [] })))).toEqual([]);
    expect(sourcesOf(level(5, [interval(0)]))).toEqual([]);
  });
});

describe("charts of LLM servers over time", () => {
  it("are only those for which there is a number", () => {
    const all = vllm({
      waiting: [0, 1, 2, 3],
      kv_cache_rate: [50, null, 60, 70],
      preemptions_per_s: [0, 0, 0, 0],
      gpu_memory_bytes: [2 ** 31, 2 ** 31, 2 ** 31, 2 ** 31],
    });
    const specs = specsOf(served(5, all));
    expect(specs.map((spec) => spec.title)).toEqual([
      "serving.requests",
      "serving.caches",
      "serving.memory",
    ]);
    expect(specs[0]?.lines.map((line) => line.label)).toEqual([
      "serving.running",
      "serving.waiting",
    ]);
    expect(specs[1]?.lines[0]?.values).toEqual([50, null, 60]);
    expect(specs[2]?.lines[0]?.values).toEqual([2, 2, 2]);
  });

  it("show preemptions once there is one", () => {
    const specs = specsOf(served(5, vllm({ running: [], preemptions_per_s: [0, 1, 0, 0] })));
    expect(specs.map((spec) => spec.title)).toEqual(["serving.preemptions"]);
  });

  it("have the time axis of the intervals, and stand before the rates", () => {
    const levels = [served(5, vllm())];
    const data = timeline(levels);
    if (!data) throw new Error("no timeline");
    const specs = timelineSpecs(data, [], specsOf(...levels));
    const titles = specs.map((spec) => spec.title);
    expect(titles.indexOf("serving.requests")).toBe(titles.indexOf("time.rates") - 1);
    expect(new Set(specs.map((spec) => JSON.stringify(spec.x.range))).size).toBe(1);
  });
});

describe("charts of LLM servers over levels", () => {
  it("have a line of each number, and hollow points where a level claims nothing", () => {
    const ladder = {
      noun: "user" as const,
      points: [point(10), point(20, { claim: "limited" })],
      findings: [],
      slos: [],
      stream_panels: [],
      joined: [],
      serving: [
        {
          title: "Requests at the LLM server",
          unit: "rate" as const,
          lines: [{ label: "waiting", values: [3, 9] }],
        },
      ],
    };
    const [spec, success] = moreSpecs(ladder);
    expect(spec?.title).toBe("Requests at the LLM server");
    expect(spec?.lines.map((line) => line.values)).toEqual([
      [3, null],
      [null, 9],
    ]);
    expect(success?.title).toBe("ladder.successOf");
  });
});
