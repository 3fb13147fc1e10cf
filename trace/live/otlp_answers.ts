/**
 * The responses of the OTLP receiver (OTLP/HTTP 1.7).
 *
 * @module
 */

import { errorResponse } from "../../core/error_response.ts";
import { PRIVATE_HEADERS } from "../../core/http/private_headers.ts";
import {
  BodyError,
  decodeText,
  readBodyBytes,
  tooLarge,
} from "../../core/http/read_body.ts";
import { runOutside } from "../../core/request_scope.ts";
import { startGunzip } from "../export/gzip.ts";
import type { Tracer } from "../types.ts";
import { readLogs } from "./otlp_logs.ts";
import { readSpans } from "./otlp_spans.ts";

/** Maximum bytes of a request, before and after decompression. */
const MAX_BODY = 8 * 1024 * 1024;

/** Bytes to decompress at once. They inflate to 16 MiB at most. */
const PIECE = 16 * 1024;

/** `INVALID_ARGUMENT` and `RESOURCE_EXHAUSTED` of gRPC. */
const CODE = { 400: 3, 413: 8 } as const;

/** Most services send JSON or nothing, so this is loaded on demand. */
const loadProtobuf = () => runOutside(() => import("./otlp_protobuf.ts"));

/** Answers a request of an exporter. */
export async function receive(
  tracer: Tracer,
  request: Request,
  signal: string,
): Promise<Response> {
  const type = formatOf(request.headers);
  if (type === undefined) {
    return errorResponse(
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      "OTLP must be application/json or application/x-protobuf, plain or with gzip",
      { "accept-encoding": "gzip" },
    );
  }
  const protobuf = type === JSON_TYPE ? undefined : await loadProtobuf();
  const answer = (status: number, body: BodyInit) =>
    new Response(body, {
      status,
      headers: { ...PRIVATE_HEADERS, "content-type": type },
    });
  const fail = (status: 400 | 413, message: string) =>
    answer(
      status,
      protobuf?.encodeStatus(CODE[status], message) ??
        JSON.stringify({ code: CODE[status], message }),
    );
  try {
    const bytes = await readBody(request);
    if (signal === "metrics") return answer(200, protobuf ? "" : "{}");
    const isTraces = signal === "traces";
    const message = protobuf?.decodeRequest(
      bytes,
      isTraces ? "ExportTraceServiceRequest" : "ExportLogsServiceRequest",
    ) ?? parse(bytes);
    const { rejected, problem } = isTraces
      ? readSpans(message, tracer)
      : readLogs(message, tracer);
    if (problem === undefined) return answer(200, protobuf ? "" : "{}");
    const partialSuccess = {
      [isTraces ? "rejectedSpans" : "rejectedLogRecords"]: String(rejected),
      errorMessage: problem,
    };
    return answer(
      200,
      protobuf?.encodePartialSuccess(rejected, problem) ??
        JSON.stringify({ partialSuccess }),
    );
  } catch (error) {
    if (error instanceof BodyError) {
      return fail(error.problem === "TOO_LARGE" ? 413 : 400, error.message);
    }
    if (error instanceof TypeError) return fail(400, error.message);
    throw error;
  }
}

const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/x-protobuf";

/** Returns the media type of a request, or `undefined` if it isn't known. */
function formatOf(headers: Headers): string | undefined {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (!["", "identity", "gzip"].includes(coding)) return undefined;
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === JSON_TYPE || type === PROTOBUF_TYPE ? type : undefined;
}

async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBodyBytes(request, MAX_BODY);
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (coding !== "gzip") return bytes;
  try {
    return await startGunzip(piecesOf(bytes), MAX_BODY)(() => false);
  } catch (cause) {
    throw cause instanceof RangeError
      ? tooLarge(MAX_BODY)
      : new BodyError("CUT_OFF", "The body must be gzip", { cause });
  }
}

function* piecesOf(
  bytes: Uint8Array<ArrayBuffer>,
): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    yield bytes.subarray(at, at + PIECE);
  }
}

/**
 * The maximum objects and lists in JSON. A body of empty ones would take a
 * gigabyte of memory. Real spans have more than 16 bytes for each.
 */
const MAX_OBJECTS = 500_000;

function parse(bytes: Uint8Array): unknown {
  let objects = 0;
  // A parser can't be stopped, and brackets in texts hardly matter.
  for (const byte of bytes) if (byte === 0x7b || byte === 0x5b) objects++;
  if (objects > MAX_OBJECTS) {
    throw new TypeError(
      `Cannot read OTLP: the body must have at most ${MAX_OBJECTS} objects, received ${objects}`,
    );
  }
  const text = decodeText(bytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError(
      "Cannot read OTLP: the body must be JSON, received something else",
    );
  }
}
