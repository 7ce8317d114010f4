// SLOs that fit in a chart of times.

import type { Slo } from "../model";

/** Return limits up to three times the highest value: higher ones would flatten the curves. */
export function limitsInRange(
  slos: readonly Slo[],
  metric: string,
  values: readonly (number | null)[],
): Slo[] {
  const highest = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  return slos.filter(
    (slo) => slo.metric === metric && slo.unit === "ms" && !slo.request && slo.limit <= 3 * highest,
  );
}
