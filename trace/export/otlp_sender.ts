/**
 * Delivers bodies to an OTLP collector, with retries.
 *
 * @module
 */

import { reportError } from "../../core/report_error.ts";
import { backoff, isRetryable, MAX_ATTEMPTS, retryAfter } from "./retry.ts";

/** How much of an answer is read, in bytes. */
const MAX_ANSWER = 16 * 1024;

/** How long a collector may take to answer, in milliseconds. */
const REQUEST_TIMEOUT = 10_000;

/** A problem that may last for a while. */
export type Trouble = "collector" | "queue";

/** The clock, timers and randomness, which tests replace. */
export interface OTLPExporterTimers {
  /** The time, in epoch milliseconds. */
  now(): number;
  /** Calls `fn` in `delay` milliseconds unless the returned function is. */
  after(delay: number, fn: () => void): () => void;
  /** A number from 0 up to 1. */
  random(): number;
}

/** Where and how a sender sends. */
export interface SenderOptions {
  readonly url: URL;
  readonly headers: Headers;
  readonly fetch: typeof fetch;
  readonly timers: OTLPExporterTimers;
  readonly onError: (error: Error) => void;
}

/** The result of an attempt; `problem` is safe to log. */
type SendResult =
  | { readonly type: "sent"; readonly problem?: string }
  | {
    readonly type: "retry";
    readonly problem: string;
    /** How long the collector asks to be left alone, in milliseconds. */
    readonly after?: number;
  }
  | { readonly type: "failed"; readonly problem: string };

/** Delivers one body at a time, and reports each problem once. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #troubles = new Set<Trouble>();
  readonly #closed = new AbortController();
  /** Ends the wait before the next attempt, if that is allowed. */
  #wake: ((isClosing: boolean) => void) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Whether {@linkcode close} was called. */
  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Sends a body until it is taken, refused, or not worth another attempt. */
  async deliver(
    body: Uint8Array<ArrayBuffer>,
  ): Promise<"exported" | "failed" | "dropped"> {
    const { timers } = this.#options;
    const { signal } = this.#closed;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const result = await this.#attempt(body);
      if (result.type === "sent") {
        if (result.problem === undefined) this.recovered("collector");
        else this.report("collector", result.problem);
        return "exported";
      }
      if (signal.aborted) break;
      this.report("collector", result.problem);
      if (result.type === "failed" || attempt === MAX_ATTEMPTS) return "failed";
      await this.#wait(
        result.after ?? backoff(attempt, timers.random()),
        result.after === undefined,
      );
    }
    return "dropped";
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

  async #wait(delay: number, isOurChoice: boolean): Promise<void> {
    const { timers } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = timers.after(delay, resolve);
    this.#wake = (isClosing) => {
      if (isClosing || isOurChoice) resolve();
    };
    await promise;
    this.#wake = undefined;
    cancel();
  }

  /** Reports a problem, unless it was reported and still lasts. */
  report(trouble: Trouble, problem: string): void {
    if (this.#troubles.has(trouble)) return;
    this.#troubles.add(trouble);
    const { url, onError } = this.#options;
    // Only the origin: a path or a query may hold a key.
    const where = url.origin;
    reportError(
      onError,
      new Error(`Cannot export traces to ${where}: ${problem}`),
    );
  }

  /** Notes that a problem is over. */
  recovered(trouble: Trouble): void {
    this.#troubles.delete(trouble);
  }

  /** Ends a wait that the sender chose itself, not one of the collector. */
  hurry(): void {
    this.#wake?.(false);
  }

  /** Ends the delivery that is going on. */
  close(): void {
    this.#closed.abort();
    this.#wake?.(true);
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
      // Following one would hand the headers to somebody else.
      redirect: "manual",
    });
  } catch (error) {
    return { type: "retry", problem: problemOf(error, signal, options) };
  }
  const { status } = response;
  const answer = await readStart(response);
  if (response.ok) return acceptance(answer);
  const problem = `the collector answered ${status}`;
  if (!isRetryable(status)) return { type: "failed", problem };
  const after = retryAfter(
    response.headers.get("retry-after"),
    options.timers.now(),
  );
  return { type: "retry", problem, ...(after !== undefined && { after }) };
}

/** A 200 may still say that some spans were refused, for good. */
function acceptance(answer: string): SendResult {
  let rejected: unknown;
  try {
    rejected = JSON.parse(answer)?.partialSuccess?.rejectedSpans;
  } catch {
    // An answer without a body is fine.
  }
  const count = Number(rejected);
  return count > 0
    ? { type: "sent", problem: `the collector refused ${count} spans` }
    : { type: "sent" };
}

/** Returns the problem, without secrets that the message may repeat. */
function problemOf(
  error: unknown,
  signal: AbortSignal,
  { url, headers }: SenderOptions,
): string {
  if (signal.aborted) return "the collector didn't answer in time";
  let text = error instanceof Error ? error.message : "the request failed";
  for (const secret of [url.href, url.search, ...headers.values()]) {
    if (secret !== "") text = text.replaceAll(secret, "…");
  }
  return text;
}

/** The first bytes of a body, as text; the rest is not waited for. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < MAX_ANSWER) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // The status has been received, which is what counts.
  }
  return text;
}
