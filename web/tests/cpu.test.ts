import { expect, it } from "vitest";

import { cpuSamples } from "../src/data/cpu";
import type { Level } from "../src/model";

const levelWithMonitor = (count: number, cores: number): Level => ({
  concurrency: 1,
  monitor: {
    t_s: Array.from({ length: count }, (_, at) => at - 1),
    seconds: Array.from({ length: count }, () => 1),
    cores: {
      numbers: Array.from({ length: cores }, (_, core) => core),
      busy_rate: Array.from({ length: cores }, (_, core) =>
        Array.from({ length: count }, () => core),
      ),
    },
    target: {
      cpu_rate: Array.from({ length: count }, () => 50),
      rss_bytes: Array.from({ length: count }, (_, at) => at * 1024 ** 2),
    },
  },
});

it("is null without monitored cores", () => {
  expect(cpuSamples([{ concurrency: 1 }, { concurrency: 2, monitor: null }])).toBeNull();
});

it("places levels one after the other", () => {
  const samples = cpuSamples([levelWithMonitor(3, 2), levelWithMonitor(2, 2)]);
  expect(samples?.xs).toEqual([-1, 0, 1, 2, 3]);
  expect(samples?.target).toEqual([50, 50, 50, 50, 50]);
  expect(samples?.generator).toEqual([null, null, null, null, null]);
});

it("keeps the highest memory of a group of samples", () => {
  expect(cpuSamples([levelWithMonitor(3, 1)])?.memory).toEqual([0, 1024 ** 2, 2 * 1024 ** 2]);
  expect(cpuSamples([levelWithMonitor(1000, 1)])?.memory.at(-1)).toBe(999 * 1024 ** 2);
});

it("groups long series into means, and selects the busiest of many cores", () => {
  const samples = cpuSamples([levelWithMonitor(1000, 64)]);
  expect(samples?.xs.length).toBeLessThanOrEqual(120);
  expect(samples?.seconds.reduce((sum, value) => sum + value, 0)).toBe(1000);
  expect(samples?.cores.map((core) => core.number)).toEqual(
    Array.from({ length: 32 }, (_, at) => at + 32),
  );
});
