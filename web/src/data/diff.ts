// Ratios of two runs at each level, with intervals if trials support them.

import type { Change } from "../model";

export interface Ratios {
  values: (number | null)[];
  intervals: ([number, number] | null)[];
}

/** Return the ratios of a metric at these levels; null at levels that only one run has. */
export function ratios(
  changes: readonly Change[],
  metric: string,
  levels: readonly number[],
): Ratios {
  const byLevel = new Map(
    changes.filter((change) => change.metric === metric).map((change) => [change.position, change]),
  );
  return {
    values: levels.map((level) => byLevel.get(level)?.ratio ?? null),
    intervals: levels.map((level) => {
      const [low, high] = byLevel.get(level)?.interval ?? [null, null];
      return low == null || high == null ? null : [low, high];
    }),
  };
}
