/**
 * Delivers bodies to an OTLP collector, with retries (OTLP/HTTP, "Failures").
 *
 * @module
 */

import { readStream } from "../../core/http/read_body.ts";
import { reportError } from "../../core/redact/printable.ts";
import { Slots } from "../../core/promises.ts";
import type { Outcome } from "./export_counts.ts";

/** Maximum bytes of a response. Longer ones don't say what was refused. */
const MAX_ANSWER = 16 * 1024;

/** The timeout of a request, in milliseconds. */
const REQUEST_TIMEOUT = 10_000;

/** The path of a collector for traces (OTLP/HTTP). */
export const TRACES_PATH = "/v1/traces";

/** A problem that may last for a while. */
export type Trouble = "collector" | "queue" | "attachment";

/** The clock, timers and randomness, which tests replace. */
export interface OTLPExporterTimers {
  /** The time, in epoch milliseconds. */
  now(): number;
  /** Calls `fn` in `delay` milliseconds. The returned function cancels it. */
  after(delay: number, fn: () => void): () => void;
  /** A number from 0 up to 1. */
  random(): number;
}

/** Options of a sender. */
export interface SenderOptions {
  readonly url: URL;
  readonly headers: Headers;
  readonly fetch: typeof fetch;
  readonly timers: OTLPExporterTimers;
  readonly onError: (error: Error) => void;
  /** Maximum requests at a time. */
  readonly maxInFlight: number;
}

/** The result of an attempt; `problem` is safe to log. */
interface SendResult {
  /** The outcome, if this is the last attempt. */
  readonly outcome: Outcome;
  readonly problem?: string;
  /** The spans that the collector refused for good. */
  readonly rejectedSpans?: number;
  /** The delay that the collector asks for, in milliseconds. */
  readonly after?: number | undefined;
}

/** Delivers a bounded number of bodies at a time, and reports problems once. */
export class Sender {
  /** A slot for each request. A delivery that waits for a retry holds none. */
  readonly slots: Slots;
  /** Spans of delivered bodies that the collector refused. */
  rejectedSpans = 0;
  readonly #options: SenderOptions;
  readonly #troubles = new Set<Trouble>();
  readonly #closed = new AbortController();
  /** End the delays before retries, if that is allowed. */
  readonly #wakers = new Set<(isClosing: boolean) => void>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.slots = new Slots(options.maxInFlight);
  }

  /** Whether {@linkcode close} was called. */
  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /**
   * Sends a body until it is accepted, refused, or out of attempts. The caller
   * holds a slot, which others use while this waits for a retry.
   */
  async deliver(body: Uint8Array<ArrayBuffer>): Promise<Outcome> {
    const { signal } = this.#closed;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const result = await this.#attempt(body);
      const { outcome, problem, rejectedSpans = 0 } = result;
      if (signal.aborted && outcome !== "exported") break;
      this.rejectedSpans += rejectedSpans;
      if (problem !== undefined) this.report("collector", problem);
      // Deliveries that wait for a retry are still in trouble.
      else if (this.#wakers.size === 0) this.recovered("collector");
      const isFinal = outcome === "exported" || outcome === "rejected";
      if (isFinal || attempt === MAX_ATTEMPTS) return outcome;
      this.slots.release();
      await this.#wait(attempt, result.after);
      await this.slots.acquire();
    }
    return "closed";
  }

  async #attempt(body: Uint8Array<ArrayBuffer>): Promise<SendResult> {
    const { timers } = this.#options;
    const late = new AbortController();
    const cancel = timers.after(REQUEST_TIMEOUT, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#closed.signal]);
    const result = await send(body, signal, this.#options);
    cancel();
    return result;
  }

  /** Waits as long as the collector asks for, or else for our own delay. */
  async #wait(attempt: number, after: number | undefined): Promise<void> {
    const { timers } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const delay = after ?? backoff(attempt, timers.random());
    const cancel = timers.after(delay, resolve);
    const wake = (isClosing: boolean) => {
      if (isClosing || after === undefined) resolve();
    };
    this.#wakers.add(wake);
    await promise;
    this.#wakers.delete(wake);
    cancel();
  }

  /** Reports a problem, unless it was reported and still lasts. */
  report(trouble: Trouble, problem: string): void {
    if (this.#troubles.has(trouble)) return;
    this.#troubles.add(trouble);
    const { url, onError } = this.#options;
    // Only the origin: a path or a query may contain a key.
    const message = `Cannot export traces to ${url.origin}: ${problem}`;
    reportError(onError, new Error(message));
  }

  /** Notes that a problem is over. */
  recovered(trouble: Trouble): void {
    this.#troubles.delete(trouble);
  }

  /** Ends delays, except for those that the collector asked for. */
  hurry(): void {
    for (const wake of this.#wakers) wake(false);
  }

  /** Aborts the running deliveries. */
  close(): void {
    this.#closed.abort();
    for (const wake of this.#wakers) wake(true);
  }
}

/** Sends a body once. Never throws. */
async function send(
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
  options: SenderOptions,
): Promise<SendResult> {
  let response: Response;
  try {
    response = await options.fetch(options.url, {
      method: "POST",
      headers: options.headers,
      body,
      signal,
      // A redirect could send the headers to another server.
      redirect: "manual",
    });
  } catch (error) {
    return {
      outcome: signal.aborted ? "timeout" : "unavailable",
      problem: problemOf(error, signal, options),
    };
  }
  const { status } = response;
  // The status is known, and that is enough.
  const answer = await readStream(response, MAX_ANSWER).catch(() => "");
  if (response.ok) return acceptance(answer);
  const advice = adviceFor(status, options.url);
  const problem = `the collector answered ${status}${advice}`;
  if (!RETRYABLE.includes(status)) return { outcome: "rejected", problem };
  const asked = response.headers.get("retry-after");
  return {
    outcome: "unavailable",
    problem,
    after: retryAfter(asked, options.timers.now()),
  };
}

/** Returns what to check, for the statuses of a wrong setting. */
function adviceFor(status: number, { pathname }: URL): string {
  if (status === 401 || status === 403) return "; check the key in headers";
  if (status === 415) return "; it must accept OTLP over HTTP with JSON";
  if (status !== 404 && status !== 405) return "";
  // Shows only the standard part of the path, because the rest may be a key.
  return pathname.endsWith(TRACES_PATH)
    ? `; check the part of url before ${TRACES_PATH}`
    : `; check the path of url: it doesn't end in ${TRACES_PATH}, as most collectors need`;
}

/** A 200 may still say that some spans were refused, for good. */
function acceptance(answer: string): SendResult {
  let rejected: unknown;
  try {
    rejected = JSON.parse(answer)?.partialSuccess?.rejectedSpans;
  } catch {
    // The body may be empty.
  }
  const count = Number(rejected);
  if (!(count > 0)) return { outcome: "exported" };
  return {
    outcome: "exported",
    problem: `the collector refused ${count} spans`,
    rejectedSpans: count,
  };
}

const GRPC_ADVICE =
  "port 4317 is the one for OTLP over gRPC, and port 4318 for OTLP over HTTP";

/** Returns the problem, without the secrets that the message may contain. */
function problemOf(
  error: unknown,
  signal: AbortSignal,
  { url, headers }: SenderOptions,
): string {
  if (signal.aborted) return "the collector didn't answer in time";
  let text = error instanceof Error ? error.message : "the request failed";
  text += reasonOf(Object(error).cause);
  for (const secret of [url.href, url.search, ...headers.values()]) {
    if (secret !== "") text = text.replaceAll(secret, "…");
  }
  return url.port === "4317" ? `${text}; ${GRPC_ADVICE}` : text;
}

/** Returns the reason, which messages of Node and Deno don't contain. */
function reasonOf(cause: unknown): string {
  const { code, message } = Object(cause);
  if (/^E[A-Z_]{1,40}$/.test(code)) return ` (${code})`;
  // Deno's cause has no code. Its message is the URL, then a chain of errors.
  const isDeno = String(message).startsWith("error sending request for url");
  const [, ...chain] = isDeno ? message.split(": ") : [];
  return chain.length > 0 ? ` (${chain.at(-1)})` : "";
}

/** Maximum attempts for a batch, including the first. */
export const MAX_ATTEMPTS = 6;

/** The delay before the second attempt, in milliseconds. */
const FIRST_DELAY = 1000;

/** The maximum delay of the exporter's own choice, in milliseconds. */
const MAX_DELAY = 30_000;

/** The maximum delay that a collector can ask for, in milliseconds. */
const MAX_RETRY_AFTER = 300_000;

/** The statuses after which the specification allows a retry. */
const RETRYABLE: readonly number[] = [429, 502, 503, 504];

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
