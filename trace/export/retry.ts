/**
 * When to retry a request to a collector (OTLP/HTTP, "Failures").
 *
 * @module
 */

/** Maximum attempts for a batch, including the first. */
export const MAX_ATTEMPTS = 6;

/** The delay before the second attempt, in milliseconds. */
const FIRST_DELAY = 1000;

/** The maximum delay of the exporter's own choice, in milliseconds. */
const MAX_DELAY = 30_000;

/** The maximum delay that a collector can ask for, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;

/** Whether the specification allows a retry after this HTTP status. */
export function isRetryable(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/**
 * Returns the delay after an attempt. It doubles each time, minus a random part
 * of up to a half, so that many servers don't retry at once.
 *
 * @param attempt The number of the failed attempt, from 1.
 * @param random A number from 0 up to 1.
 */
export function backoff(attempt: number, random: number): number {
  const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** (attempt - 1));
  return delay * (1 - random / 2);
}

/**
 * Returns the delay of a `Retry-After` header, in milliseconds, at most five
 * minutes (RFC 9110 §10.2.3: seconds or a date). `undefined` if there is none.
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
