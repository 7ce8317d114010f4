// Ranges of axes: linear ones start at zero, logarithmic ones include every value with a margin.

export type Scale = "zero" | "log" | "plain";

/** Return the lowest and the highest value of an axis that includes these values. */
export function range(
  scale: Scale,
  values: readonly (number | null)[],
  { headroom = 1 }: { headroom?: number },
): [number, number] {
  const finite = values.filter((value): value is number => value != null && Number.isFinite(value));
  const high = finite.reduce((max, value) => Math.max(max, value), -Infinity);
  if (scale === "zero") return [0, high > 0 ? high * headroom : 1];
  if (scale === "plain") {
    const low = finite.reduce((min, value) => Math.min(min, value), Infinity);
    return finite.length ? [low, high > low ? high : low + 1] : [0, 1];
  }
  const positive = finite.filter((value) => value > 0);
  if (!positive.length) return [1, 10];
  const low = positive.reduce((min, value) => Math.min(min, value), Infinity);
  const margin = high > low ? Math.max(1.15, (high / low) ** 0.06) : 1.6;
  return [low / margin, high * margin * (headroom > 1.2 ? (high / low) ** (headroom - 1) : 1)];
}

/** Return the range that includes both. */
export function union(
  previous: [number, number] | null,
  current: [number, number],
): [number, number] {
  return previous
    ? [Math.min(previous[0], current[0]), Math.max(previous[1], current[1])]
    : current;
}

/** Return the next of 1, 2, 5, 10, 20, … that is not below a number. */
export function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return power * ([1, 2, 5].find((step) => step * power >= value - 1e-9) ?? 10);
}

/** Return ticks of a logarithmic axis: powers of ten, and steps between them if they are few. */
export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps =
    decades > 3 ? [1] : decades > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    ticks.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(3))));
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}
