/**
 * Encodes batches of traces as the bodies of OTLP requests.
 *
 * @module
 */

import type { SerializedTrace } from "../types.ts";
import { gzip } from "./gzip.ts";
import type { OTLPKeyValue } from "./otlp_types.ts";
import { toResourceSpans, traceSpans } from "./otlp_writer.ts";

/** How batches are encoded. */
export interface BatchFormat {
  /** The attributes of this service. */
  readonly resource: readonly OTLPKeyValue[];
  /** Whether bodies are compressed. */
  readonly gzip: boolean;
}

/** The spans between two yields to the event loop: about a millisecond. */
const SPANS_AT_ONCE = 100;

/**
 * Maximum characters of a request. Receivers take 20 MiB, or 4 MiB behind a
 * gRPC hop (OTLP/HTTP, "Request").
 */
const MAX_TEXT = 4 * 1024 * 1024;

/** The body of a request. */
export interface EncodedBatch {
  /** The number of traces in it. */
  readonly count: number;
  /** The bytes, encoded once for all attempts. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Yields the bodies of requests: one, unless the traces are too large. It
 * yields to the event loop in between, because encoding a batch takes as long
 * as dozens of requests.
 *
 * @param onInvalid Called with the error of a trace that OTLP can't represent. A
 * foreign tracer's ids may be malformed. The others are encoded.
 */
export async function* encodeBatches(
  traces: readonly SerializedTrace[],
  { resource, gzip: isCompressed }: BatchFormat,
  onInvalid: (error: unknown) => void,
): AsyncGenerator<EncodedBatch> {
  let parts: string[] = [];
  let length = 0;
  let spans = 0;
  for (const trace of traces) {
    let part: string;
    try {
      part = JSON.stringify(toResourceSpans(resource, traceSpans(trace)));
    } catch (error) {
      onInvalid(error);
      continue;
    }
    if (length + part.length > MAX_TEXT && parts.length > 0) {
      yield await encodeParts(parts, isCompressed);
      parts = [];
      length = 0;
    }
    parts.push(part);
    length += part.length;
    spans += trace.spans.length;
    if (spans >= SPANS_AT_ONCE) {
      spans = 0;
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
  if (parts.length > 0) yield await encodeParts(parts, isCompressed);
}

async function encodeParts(
  parts: readonly string[],
  isCompressed: boolean,
): Promise<EncodedBatch> {
  const json = `{"resourceSpans":[${parts.join(",")}]}`;
  const body = new TextEncoder().encode(json);
  return { count: parts.length, body: isCompressed ? await gzip(body) : body };
}
