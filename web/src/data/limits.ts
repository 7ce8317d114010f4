// SLOs that a chart of times can show.

import type { Slo } from "../model";

/** Limits on a kind of time that lie within three times its highest value: others would hide it. */
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
