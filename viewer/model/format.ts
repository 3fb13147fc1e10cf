/**
 * Formats numbers and times. A duration always has three significant digits, so
 * that columns of them line up.
 *
 * @module
 */

/** Formats milliseconds, such as `840 µs`, `12.3 ms` or `1.25 s`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const size = Math.abs(ms);
  if (size === 0) return "0 ms";
  if (size < 0.9995) return `${significant(ms * 1000)} µs`;
  if (size < 999.5) return `${significant(ms)} ms`;
  if (size < 59_995) return `${significant(ms / 1000)} s`;
  const seconds = Math.round(size / 1000);
  const sign = ms < 0 ? "-" : "";
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0
    ? `${sign}${hours} h ${minutes} min`
    : `${sign}${minutes} min ${seconds % 60} s`;
}

/** Formats a difference of milliseconds with its sign: `+12.3 ms`, `−840 µs`. */
export function formatDelta(ms: number): string {
  if (ms === 0) return "±0";
  return `${ms > 0 ? "+" : "−"}${formatDuration(Math.abs(ms))}`;
}

function significant(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** Formats a whole number with separators, such as `10,000`. */
export function formatCount(value: number): string {
  let text = String(value);
  if (!Number.isSafeInteger(value)) return text;
  // By hand, because `Intl` takes 10 ms the first time.
  const first = value < 0 ? 1 : 0;
  for (let i = text.length - 3; i > first; i -= 3) {
    text = `${text.slice(0, i)},${text.slice(i)}`;
  }
  return text;
}

/** Formats a number with its noun, such as `1 span` or `2,400 spans`. */
export function formatPlural(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Formats a share, such as `12 %`, `0.4 %` or `<0.1 %`. A share of 0 is `0 %`. */
export function formatShare(part: number, whole = 1): string {
  const percent = whole === 0 ? 0 : part / whole * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "<0.1 %";
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/** The zone of shown times: the browser's, or UTC. */
export type TimeZone = "local" | "utc";

/** Formats the time of day of a moment without its zone: `14:03:12.345`. */
export function formatClock(epochMs: number, zone: TimeZone): string {
  return formatMoment(epochMs, zone).split(" ")[1] ?? "–";
}

/** Formats the date and time of a moment: `2026-01-31 14:03:12.345 UTC+2`. */
export function formatMoment(epochMs: number, zone: TimeZone): string {
  const offset = offsetOf(epochMs, zone);
  const shifted = new Date(epochMs + offset * 60_000);
  if (Number.isNaN(shifted.getTime())) return "–";
  const text = shifted.toISOString().slice(0, -1).replace("T", " ");
  return `${text} ${formatZone(epochMs, zone)}`;
}

/** Formats the zone of a moment: `UTC`, `UTC+2` or `UTC−3:30`. */
export function formatZone(epochMs: number, zone: TimeZone): string {
  const offset = offsetOf(epochMs, zone);
  // An invalid moment has no offset.
  if (!offset) return "UTC";
  const size = Math.abs(offset);
  const minutes = size % 60;
  const rest = minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`;
  return `UTC${offset < 0 ? "−" : "+"}${Math.floor(size / 60)}${rest}`;
}

/** Returns the minutes that a zone is ahead of UTC. */
function offsetOf(epochMs: number, zone: TimeZone): number {
  return zone === "utc" ? 0 : -new Date(epochMs).getTimezoneOffset();
}
