import type { SerializedTrace } from "../types.ts";
import { gzip } from "./gzip.ts";
import type { OTLPKeyValue, OTLPResourceSpans } from "./otlp_types.ts";
import { toOTLP } from "./otlp_writer.ts";
import { isRetryable, retryAfter } from "./retry.ts";

/** How much of an answer is read, in bytes. */
const MAX_ANSWER = 16 * 1024;

/** Where and how {@linkcode send} sends. */
export interface SenderOptions {
  readonly url: URL;
  readonly headers: Headers;
  /** What is known of this service. */
  readonly resource: readonly OTLPKeyValue[];
  readonly gzip: boolean;
  readonly fetch: typeof fetch;
  /** The time, in epoch milliseconds. */
  readonly now: () => number;
}

/** What became of an attempt; `problem` is safe to log. */
export type SendResult =
  | { readonly type: "sent"; readonly problem?: string }
  | {
    readonly type: "retry";
    readonly problem: string;
    /** How long the collector asks to be left alone, in milliseconds. */
    readonly after?: number;
  }
  | { readonly type: "failed"; readonly problem: string };

/** After how many spans the event loop has a turn: about a millisecond. */
const TURN = 100;

/**
 * How long the text of a request may get, in characters. OTLP/HTTP, "Request":
 * receivers take 20 MiB, those behind a gRPC hop 4 MiB.
 */
const MAX_TEXT = 4 * 1024 * 1024;

/** The body of a request. */
export interface EncodedBatch {
  /** How many traces are in it. */
  readonly count: number;
  /** What is sent, made once for all attempts. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Makes the bodies of requests: one, unless the traces are too large for that.
 * They are put together trace by trace, with breaks in which requests are
 * served: a batch takes as long to write as dozens of them take to answer.
 */
export async function* encodeBatches(
  traces: readonly SerializedTrace[],
  options: SenderOptions,
): AsyncGenerator<EncodedBatch> {
  let parts: string[] = [];
  let length = 0;
  let spans = 0;
  for (const trace of traces) {
    const part = encodeTrace(trace, options);
    if (length + part.length > MAX_TEXT && parts.length > 0) {
      yield await encodeParts(parts, options);
      parts = [];
      length = 0;
    }
    parts.push(part);
    length += part.length;
    spans += trace.spans.length;
    if (spans >= TURN) {
      spans = 0;
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  yield await encodeParts(parts, options);
}

function encodeTrace(
  trace: SerializedTrace,
  { resource }: SenderOptions,
): string {
  const [{ scopeSpans }] = toOTLP([trace]).resourceSpans as [OTLPResourceSpans];
  return JSON.stringify(
    {
      resource: { attributes: resource },
      scopeSpans,
    } satisfies OTLPResourceSpans,
  );
}

async function encodeParts(
  parts: readonly string[],
  { gzip: compress }: SenderOptions,
): Promise<EncodedBatch> {
  const json = `{"resourceSpans":[${parts.join(",")}]}`;
  const body = new TextEncoder().encode(json);
  return { count: parts.length, body: compress ? await gzip(body) : body };
}

/** Sends a body once. Never throws. */
export async function send(
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
  const after = retryAfter(response.headers.get("retry-after"), options.now());
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

/** What went wrong, without anything secret that the message may repeat. */
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
