// Numbers for people, written as torr writes them in its tables.

const MISSING = "–";

/** A count with thousands separators: `47,812`. */
export function count(n: number | null | undefined): string {
  return n == null ? MISSING : Math.round(n).toLocaleString("en-US");
}

/** Milliseconds with three digits: `0.420 ms`, `12.3 ms`, `1,780 ms`, `12.3 s`. */
export function ms(value: number | null | undefined): string {
  if (value == null) return MISSING;
  if (value >= 10_000) return `${grouped(value / 1000, 1)} s`;
  return `${threeDigits(value)} ms`;
}

/** A rate a second: `47,812`, `21.5`. */
export function rate(value: number | null | undefined): string {
  if (value == null) return MISSING;
  return value >= 100 ? count(value) : trimZeros(threeDigits(value));
}

/** A share in percent, never rounded up to 100. */
export function percent(value: number | null | undefined): string {
  if (value == null) return MISSING;
  if (value >= 99.995 && value < 100) return ">99.99 %";
  if (value > 0 && value < 0.005) return "<0.01 %";
  return `${trimZeros(value.toFixed(2))} %`;
}

/** How many times as much: `0.57`, of a small one what counts. */
export function factor(value: number): string {
  return value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2);
}

/** A difference of two shares in percentage points: `+12.3`, `−4`, `0`. */
export function points(value: number): string {
  const text = trimZeros(Math.abs(value).toFixed(1));
  if (text === "0") return text;
  return `${value > 0 ? "+" : "−"}${text}`;
}

/** Seconds as a clock: `4 s`, `1:05`, `1:00:00`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const twoDigits = (n: number) => String(n).padStart(2, "0");
  return h ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${m}:${twoDigits(s)}`;
}

/** A tick of an axis: `0`, `2.5`, `500`, `10k`, `2.5M`. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${twoDecimals(value / 1e6)}M`;
  return size >= 1e4 ? `${twoDecimals(value / 1e3)}k` : grouped(value, size < 1 ? 4 : 2);
}

/** When a run began and ended, in UTC. */
export function utc(started: string, ended: string | null | undefined): string {
  const [a, b] = [split(started), split(ended ?? "")];
  if (!b.day) return `${a.day} ${a.time} UTC`;
  return `${a.day} ${a.time} – ${a.day === b.day ? "" : `${b.day} `}${b.time} UTC`;
}

/** The same moment on the reader's clock, with the name of its zone. */
export function local(started: string): string {
  const at = new Date(started);
  if (Number.isNaN(at.getTime())) return MISSING;
  const twoDigits = (n: number) => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
  const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}:${twoDigits(at.getSeconds())}`;
  const offsetMinutes = -at.getTimezoneOffset();
  const sign = offsetMinutes < 0 ? "−" : "+";
  const zone = `${sign}${twoDigits(Math.floor(Math.abs(offsetMinutes) / 60))}:${twoDigits(Math.abs(offsetMinutes) % 60)}`;
  return `${day} ${time} ${zone}`;
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

/** Without zeros behind the point that say nothing. */
function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
