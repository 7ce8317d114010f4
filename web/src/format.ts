// Formats numbers and times as torr's tables do.

const MISSING = "–";

/** Return a count with thousands separators: `47,812`. */
export function count(n: number | null | undefined): string {
  return n == null ? MISSING : Math.round(n).toLocaleString("en-US");
}

/** Return milliseconds with three digits: `420 ns`, `0.420 ms`, `1,780 ms`, `12.3 s`. */
export function ms(value: number | null | undefined): string {
  if (value == null) return MISSING;
  if (value >= 10_000) return `${grouped(value / 1000, 1)} s`;
  if (value > 0 && value < 1e-3) return `${threeDigits(value * 1e6)} ns`;
  return `${threeDigits(value)} ms`;
}

/** Return a rate per second: `47,812`, `21.5`. */
export function rate(value: number | null | undefined): string {
  if (value == null) return MISSING;
  return value >= 100 ? count(value) : trimZeros(threeDigits(value));
}

/** Return a share in percent, never rounded up to 100. */
export function percent(value: number | null | undefined): string {
  if (value == null) return MISSING;
  if (value >= 99.995 && value < 100) return ">99.99 %";
  if (value > 0 && value < 0.005) return "<0.01 %";
  return `${trimZeros(value.toFixed(2))} %`;
}

/** Return a ratio: `0.57`; with two significant digits below 0.1. */
export function factor(value: number): string {
  return value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2);
}

/** Return a difference of two shares in percentage points: `+12.3`, `−4`, `0`. */
export function points(value: number): string {
  const text = trimZeros(Math.abs(value).toFixed(1));
  if (text === "0") return text;
  return `${value > 0 ? "+" : "−"}${text}`;
}

/** Return seconds as a clock: `4 s`, `1:05`, `1:00:00`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const twoDigits = (n: number) => String(n).padStart(2, "0");
  return h ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${m}:${twoDigits(s)}`;
}

/** Return a tick label: `0`, `2.5`, `500`, `10k`, `2.5M`. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${twoDecimals(value / 1e6)}M`;
  return size >= 1e4 ? `${twoDecimals(value / 1e3)}k` : grouped(value, size < 1 ? 4 : 2);
}

/** Return when a run began and ended, in UTC. */
export function utc(started: string, ended: string | null | undefined): string {
  const [a, b] = [split(started), split(ended ?? "")];
  if (!b.day) return `${a.day} ${a.time} UTC`;
  return `${a.day} ${a.time} – ${a.day === b.day ? "" : `${b.day} `}${b.time} UTC`;
}

/** Return a time in the reader's time zone, with its offset from UTC. */
export function local(started: string): string {
  const at = new Date(started);
  if (Number.isNaN(at.getTime())) return MISSING;
  const parts = new Intl.DateTimeFormat("en-US", { timeZoneName: "longOffset" }).formatToParts(at);
  const zone = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  // The Swedish format is that of ISO 8601.
  return `${at.toLocaleString("sv-SE")} ${zone.replace("GMT", "").replace("-", "−")}`;
}

function split(iso: string): { day: string; time: string } {
  const [day = "", time = ""] = iso.slice(0, 19).split("T");
  return { day, time };
}

function threeDigits(value: number): string {
  if (value >= 100) return grouped(value, 0);
  const digits = value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toFixed(digits);
}

function grouped(value: number, digits: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function twoDecimals(value: number): string {
  return trimZeros(value.toFixed(2));
}

/** Return a number without trailing zeros after the decimal point. */
function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
