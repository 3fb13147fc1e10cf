/**
 * When to send again what a collector didn't take: OTLP/HTTP, "Failures".
 *
 * @module
 */

/** How often a batch is sent, the first time included. */
export const MAX_ATTEMPTS = 6;

/** How long to wait before the second attempt, in milliseconds. */
const FIRST_DELAY = 1000;

/** No wait of our own choosing is longer, in milliseconds. */
const MAX_DELAY = 30_000;

/** No wait of the collector's choosing is longer, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;

/** Whether the specification allows to send again after this HTTP status. */
export function isRetryable(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/**
 * How long to wait after an attempt: twice as long each time, less up to half
 * by chance, so that a thousand servers don't all come back at once.
 *
 * @param attempt Which attempt failed, from 1.
 * @param random A number from 0 up to 1.
 */
export function backoff(attempt: number, random: number): number {
  const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** (attempt - 1));
  return delay * (1 - random / 2);
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds, at most five
 * minutes (RFC 9110 §10.2.3: seconds or a date); `undefined` if it doesn't.
 */
export function retryAfter(
  header: string | null,
  now: number,
): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  const delay = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - now;
  if (Number.isNaN(delay)) return undefined;
  return Math.min(MAX_RETRY_AFTER, Math.max(0, delay));
}
