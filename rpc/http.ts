/**
 * The router over HTTP: queries by GET, queries and mutations by POST, several
 * of them in one POST as a batch.
 *
 * @module
 */

import { readBody, readText, toBodyError } from "../app/read_body.ts";
import { Call } from "./call.ts";
import type { CallSource, Endpoint } from "./call.ts";
import { noteCall } from "./call_route.ts";
import type { Endpoints } from "./endpoints.ts";
import { isA, RPCError, stringifyError } from "./error.ts";
import {
  describe,
  findByKeys,
  findByName,
  parseError,
  parseJSON,
  readInput,
  readObject,
  readPath,
} from "./messages.ts";
import { perform } from "./perform.ts";
import { readQueryString } from "./query_string.ts";
import type { Reporter } from "./report.ts";
import type { Transformer } from "./transformer.ts";

/** What the HTTP side of a router needs to know. */
export interface HTTPOptions {
  readonly endpoints: Endpoints;
  readonly transformer: Transformer | undefined;
  readonly report: Reporter;
  readonly maxBodySize: number;
  readonly maxBatchSize: number;
}

/** Answers requests. `path` names the procedure if the host knows it. */
export type HTTPHandler = (
  request: Request,
  ctx?: unknown,
  path?: string,
) => Promise<Response>;

/** Made once: Deno reads it faster than `Response.json` makes its own. */
const OK = { headers: { "content-type": "application/json" } };

/**
 * An answer is its caller's alone, and a GET's would be kept by caches that
 * guess how long it is fresh (RFC 9111, section 4.2.2); a POST's never is. Who
 * knows better sets another `Cache-Control` in a middleware of the host.
 */
const NO_STORE = "no-store";

/** A second header in the constant costs ten times as much as setting it. */
function respond(body: string | null, method: string): Response {
  const response = new Response(method === "HEAD" ? null : body, OK);
  if (method !== "POST") response.headers.set("cache-control", NO_STORE);
  return response;
}

/** Makes the handler of a router. */
export function createHTTPHandler(options: HTTPOptions): HTTPHandler {
  const { endpoints, transformer, report, maxBodySize, maxBatchSize } = options;

  // Only one async function lies between the server and a handler that answers
  // at once: each one more costs 0.1 µs, a tenth of the call.
  return async (request, ctx, path) => {
    const { method } = request;
    try {
      let answer: string | Promise<string>;
      if (method === "GET" || method === "HEAD") {
        answer = answerGet(request, ctx, path);
      } else if (method === "POST") {
        checkContentType(request.headers);
        let text: string;
        try {
          text = readText(await readBody(request, maxBodySize), maxBodySize);
        } catch (error) {
          throw bodyFailure(error);
        }
        answer = answerPost(request, ctx, path, text);
      } else throw methodNotAllowed(method);
      if (typeof answer !== "string") answer = await answer;
      return respond(answer, method);
    } catch (error) {
      if (!(isA(error, RPCError))) throw error;
      return respondError(error, method);
    }
  };

  function answerGet(
    request: Request,
    ctx: unknown,
    name: string | undefined,
  ): string | Promise<string> {
    const { path, input } = readQueryString(request.url);
    const named = name ?? path;
    if (named === null) {
      throw parseError("The query parameter path is missing");
    }
    const endpoint = findByName(endpoints, named);
    checkKind(endpoint, "query");
    return answer(endpoint, request, ctx, readQueryInput(input));
  }

  function readQueryInput(text: string | null): unknown {
    if (text === null) return undefined;
    return transformer === undefined
      ? parseJSON(text, "The query parameter input")
      : readInput(transformer, text);
  }

  function answerPost(
    request: Request,
    ctx: unknown,
    name: string | undefined,
    text: string,
  ): string | Promise<string> {
    if (name !== undefined) return answerNamed(request, ctx, name, text);
    const body = readObject(parseJSON(text, "The body"), "The body");
    return body.batch === undefined
      ? answerCall(request, ctx, body)
      : answerBatch(request, ctx, body.batch);
  }

  function answerCall(
    request: Request,
    ctx: unknown,
    { path, type, input }: { readonly [key: string]: unknown },
  ): string | Promise<string> {
    const endpoint = findByKeys(endpoints, readPath(path));
    checkKind(endpoint, type);
    return answer(endpoint, request, ctx, readInput(transformer, input));
  }

  /** The URL has the path, so the body is the input and nothing else. */
  function answerNamed(
    request: Request,
    ctx: unknown,
    name: string,
    text: string,
  ): string | Promise<string> {
    const endpoint = findByName(endpoints, name);
    checkKind(endpoint, endpoint.procedure.kind);
    const input = text === "" ? undefined : parseJSON(text, "The body");
    return answer(endpoint, request, ctx, readInput(transformer, input));
  }

  async function answerBatch(
    request: Request,
    ctx: unknown,
    batch: unknown,
  ): Promise<string> {
    if (!Array.isArray(batch) || batch.length === 0) {
      throw parseError(
        `batch must be an array of calls, received ${
          Array.isArray(batch) ? "an empty one" : describe(batch)
        }`,
      );
    }
    if (batch.length > maxBatchSize) {
      throw new RPCError(
        "PAYLOAD_TOO_LARGE",
        `A batch holds at most ${maxBatchSize} calls, received ${batch.length}`,
        413,
      );
    }
    const envelopes = await Promise.all(batch.map(async (call) => {
      try {
        const fields = readObject(call, "A call of a batch");
        return await answerCall(request, ctx, fields);
      } catch (error) {
        if (!(isA(error, RPCError))) throw error;
        // The batch has one status; that of the call goes with its envelope.
        return `{"ok":false,"status":${error.status},"error":${
          stringifyError(error)
        }}`;
      }
    }));
    return `{"ok":true,"data":[${envelopes.join(",")}]}`;
  }

  /** Runs a procedure and gives the envelope of its success. */
  function answer(
    endpoint: Endpoint,
    request: Request,
    ctx: unknown,
    input: unknown,
  ): string | Promise<string> {
    const call = new Call(endpoint, ctx, new RequestSource(request));
    try {
      noteCall(endpoint.path);
      const envelope = perform(endpoint, call, input, success);
      if (typeof envelope !== "string") return answerLater(call, envelope);
      call.settle();
      return envelope;
    } catch (error) {
      call.settle();
      throw report(error, call);
    }
  }

  async function answerLater(
    call: Call,
    envelope: Promise<string>,
  ): Promise<string> {
    try {
      return await envelope;
    } catch (error) {
      throw report(error, call);
    } finally {
      call.settle();
    }
  }

  function success(data: unknown): string {
    let text: string | undefined;
    if (transformer === undefined) text = JSON.stringify(data);
    else text = JSON.stringify(transformer.stringify(data));
    return text === undefined ? '{"ok":true}' : `{"ok":true,"data":${text}}`;
  }
}

/** Asks the request for its signal, which is dear, only when asked itself. */
class RequestSource implements CallSource {
  readonly request: Request;

  constructor(request: Request) {
    this.request = request;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }
}

function checkKind({ procedure: { kind } }: Endpoint, type: unknown): void {
  if (kind === type && kind !== "subscription") return;
  if (kind === "subscription") {
    throw new RPCError(
      "METHOD_NOT_ALLOWED",
      "Subscriptions need a WebSocket",
    );
  }
  if (type !== "query" && type !== "mutation") {
    throw parseError(
      `type must be "query" or "mutation", received ${
        typeof type === "string" ? "another string" : describe(type)
      }`,
    );
  }
  throw new RPCError(
    "METHOD_MISMATCH",
    `The procedure is a ${kind}, the request is a ${type}`,
  );
}

/**
 * Browsers send JSON to another site only after asking it (CORS), but forms
 * and `text/plain` without. RFC 8259, section 8.1, knows UTF-8 only.
 */
function checkContentType(headers: Headers): void {
  const type = headers.get("content-type");
  if (type === "application/json") return;
  if (type !== null && type.length <= MAX_TYPE && JSON_TYPE.test(type)) return;
  throw parseError("The content type must be application/json, in UTF-8");
}

/** The pattern tries every way to share out a run of spaces. */
const MAX_TYPE = 128;
const JSON_TYPE =
  /^\s*application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;

function bodyFailure(cause: unknown): RPCError {
  const { problem, message } = toBodyError(cause);
  return problem === "TOO_LARGE"
    ? new RPCError("PAYLOAD_TOO_LARGE", message, 413)
    : parseError(message);
}

function methodNotAllowed(method: string): RPCError {
  return new RPCError(
    "METHOD_NOT_ALLOWED",
    `${method} is not allowed: queries are sent by GET or POST, mutations by POST`,
    405,
    { headers: { allow: "GET, HEAD, POST" } },
  );
}

/** The response that tells of an error. */
export function respondError(error: RPCError, method: string): Response {
  const { status, headers } = error;
  return new Response(method === "HEAD" ? null : failure(error), {
    status,
    headers: { "cache-control": NO_STORE, ...headers, ...OK.headers },
  });
}

/** The envelope of a failure. */
function failure(error: RPCError): string {
  return `{"ok":false,"error":${stringifyError(error)}}`;
}
