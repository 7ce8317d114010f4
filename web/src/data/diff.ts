// The ratio of two runs at each level, with its interval where trials carry one.

import type { Change } from "../model";

export interface Ratios {
  values: (number | null)[];
  intervals: ([number, number] | null)[];
}

/** One metric's ratios at these levels; null where the runs have no level in common. */
export function ratios(
  changes: readonly Change[],
  metric: string,
  levels: readonly number[],
): Ratios {
  const byLevel = new Map(
    changes
      .filter((change) => change.metric === metric)
      .map((change) => [change.concurrency, change]),
  );
  return {
    values: levels.map((level) => byLevel.get(level)?.ratio ?? null),
    intervals: levels.map((level) => {
      const [low, high] = byLevel.get(level)?.interval ?? [null, null];
      return low == null || high == null ? null : [low, high];
    }),
  };
}
