/**
 * Epoch milliseconds as OTLP's epoch nanoseconds in decimal, and back.
 *
 * Nanoseconds since 1970 don't fit a double: 2⁵³ of them are 104 days. Whole
 * milliseconds do, and so does the rest, which is always the last six digits;
 * so they are put together and taken apart as text. A double of epoch
 * milliseconds steps by 244 ns and thus survives the way there and back.
 *
 * @module
 */

/** How many digits nanoseconds have after the millisecond. */
const DIGITS = 6;

/** Nanoseconds in decimal. A time before 1970, which OTLP can't tell, is 0. */
export function toUnixNano(time: number): string {
  if (time <= 0) return "0";
  let whole = Math.floor(time);
  let nanos = Math.round((time - whole) * 1e6);
  if (nanos === 1e6) {
    whole++;
    nanos = 0;
  }
  if (whole === 0) return String(nanos);
  return String(whole) + String(nanos).padStart(DIGITS, "0");
}

/** Milliseconds, as near as a double gets, of nanoseconds in decimal. */
export function fromUnixNano(nanos: string): number {
  const whole = Number(nanos);
  if (whole <= Number.MAX_SAFE_INTEGER) return whole / 1e6;
  return Number(nanos.slice(0, -DIGITS)) + Number(nanos.slice(-DIGITS)) / 1e6;
}
