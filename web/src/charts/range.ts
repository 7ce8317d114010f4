// Ranges of axes: sizes start at zero, logarithmic ones hold every value with some air.

export type Scale = "zero" | "log" | "plain";

/** The lowest and the highest of an axis that holds these values. */
export function range(
  scale: Scale,
  values: readonly (number | null)[],
  { headroom = 1 }: { headroom?: number },
): [number, number] {
  const known = values.filter((value): value is number => value != null && Number.isFinite(value));
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (scale === "zero") return [0, high > 0 ? high * headroom : 1];
  if (scale === "plain") {
    const low = known.reduce((least, value) => Math.min(least, value), Infinity);
    return known.length ? [low, high > low ? high : low + 1] : [0, 1];
  }
  const positive = known.filter((value) => value > 0);
  if (!positive.length) return [1, 10];
  const low = positive.reduce((least, value) => Math.min(least, value), Infinity);
  const air = high > low ? Math.max(1.15, (high / low) ** 0.06) : 1.6;
  return [low / air, high * air * (headroom > 1.2 ? (high / low) ** (headroom - 1) : 1)];
}
