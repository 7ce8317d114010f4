// SLOs that fit in a chart of one metric.

import type { Slo } from "../model";

/** Return the limits of all requests on a metric. */
export function limitsOn(slos: readonly Slo[], metric: string): Slo[] {
  return slos.filter((slo) => slo.metric === metric && !slo.request);
}

/** Return limits up to three times the highest value: higher ones would flatten the curves. */
export function limitsInRange(
  slos: readonly Slo[],
  metric: string,
  values: readonly (number | null)[],
): Slo[] {
  const highest = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  return limitsOn(slos, metric).filter((slo) => slo.limit <= 3 * highest);
}
