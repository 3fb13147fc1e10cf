/**
 * The router over HTTP: queries by GET, queries and mutations by POST, several
 * of them in one POST as a batch.
 *
 * @module
 */

import { type BodyError, readBodyText } from "../../core/http/read_body.ts";
import { Call } from "./call.ts";
import type { CallSource, Endpoint } from "./call.ts";
import { noteCall, noteRefusal, noteRefusedCall } from "./call_route.ts";
import type { Endpoints } from "./endpoints.ts";
import { isA, RPCError, stringifyError } from "../error.ts";
import {
  describe,
  findByKeys,
  findByName,
  parseError,
  parseJSON,
  readInput,
  readObject,
  readPath,
} from "../socket/messages.ts";
import { perform } from "./perform.ts";
import { readQueryString } from "./query_string.ts";
import type { Reporter } from "./report.ts";
import { addHeaders, checkHeaders, respond, respondError } from "./respond.ts";
import type { Transformer } from "../transformer.ts";

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

/** Makes the handler of a router. */
export function createHTTPHandler(options: HTTPOptions): HTTPHandler {
  const { endpoints, transformer, report, maxBodySize, maxBatchSize } = options;

  return async (request, ctx, path) => {
    const { method } = request;
    const source = new RequestSource(request);
    try {
      let envelope: string | Promise<string>;
      if (method === "GET" || method === "HEAD") {
        envelope = answerGet(source, ctx, path);
      } else if (method === "POST") {
        checkContentType(request.headers);
        let text: string;
        try {
          text = await readBodyText(request, maxBodySize);
        } catch (error) {
          throw bodyFailure(error as BodyError);
        }
        envelope = answerPost(source, ctx, path, text);
      } else throw methodNotAllowed(method);
      if (typeof envelope !== "string") envelope = await envelope;
      return respond(envelope, method, source.added);
    } catch (error) {
      if (!(isA(error, RPCError))) throw error;
      if (!source.arrived) noteRefusal(error);
      return respondError(error, method, source.added);
    }
  };

  function answerGet(
    source: RequestSource,
    ctx: unknown,
    name: string | undefined,
  ): string | Promise<string> {
    const { path, input } = readQueryString(source.request.url);
    const named = name ?? path;
    if (named === null) {
      throw parseError("The query parameter path is missing");
    }
    const endpoint = findByName(endpoints, named);
    checkKind(endpoint, "query");
    return callProcedure(endpoint, source, ctx, readQueryInput(input));
  }

  function readQueryInput(text: string | null): unknown {
    if (text === null) return undefined;
    return transformer === undefined
      ? parseJSON(text, "The query parameter input")
      : readInput(transformer, text);
  }

  function answerPost(
    source: RequestSource,
    ctx: unknown,
    name: string | undefined,
    text: string,
  ): string | Promise<string> {
    if (name !== undefined) return answerNamed(source, ctx, name, text);
    const body = readObject(parseJSON(text, "The body"), "The body");
    return body.batch === undefined
      ? answerCall(source, ctx, body)
      : answerBatch(source, ctx, body.batch);
  }

  function answerCall(
    source: RequestSource,
    ctx: unknown,
    { path, type, input }: { readonly [key: string]: unknown },
  ): string | Promise<string> {
    const endpoint = findByKeys(endpoints, readPath(path));
    checkKind(endpoint, type);
    return callProcedure(endpoint, source, ctx, readInput(transformer, input));
  }

  /** The URL has the path, so the body is the input and nothing else. */
  function answerNamed(
    source: RequestSource,
    ctx: unknown,
    name: string,
    text: string,
  ): string | Promise<string> {
    const endpoint = findByName(endpoints, name);
    checkKind(endpoint, endpoint.procedure.kind);
    const input = text === "" ? undefined : parseJSON(text, "The body");
    return callProcedure(endpoint, source, ctx, readInput(transformer, input));
  }

  async function answerBatch(
    source: RequestSource,
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
    const sources = batch.map(() => new RequestSource(source.request));
    const envelopes = await Promise.all(batch.map(async (call, index) => {
      const source = sources[index]!;
      try {
        const fields = readObject(call, "A call of a batch");
        return await answerCall(source, ctx, fields);
      } catch (error) {
        if (!(isA(error, RPCError))) throw error;
        if (!source.arrived) noteRefusedCall(error);
        // The batch has one status; that of the call goes with its envelope.
        return `{"ok":false,"status":${error.status},"error":${
          stringifyError(error)
        }}`;
      }
    }));
    for (const { added } of sources) {
      if (added !== undefined) addHeaders(source.responseHeaders, added);
    }
    return `{"ok":true,"data":[${envelopes.join(",")}]}`;
  }

  /** Runs a procedure and gives the envelope of its success. */
  function callProcedure(
    endpoint: Endpoint,
    source: RequestSource,
    ctx: unknown,
    input: unknown,
  ): string | Promise<string> {
    const call = new Call(endpoint, ctx, source);
    source.arrived = true;
    try {
      noteCall(endpoint.path);
      const envelope = perform(endpoint, call, input, success);
      if (typeof envelope !== "string") {
        return answerLater(call, envelope, source);
      }
      if (source.added !== undefined) checkHeaders(source.added, call.path);
      call.settle();
      return envelope;
    } catch (error) {
      call.settle();
      throw report(error, call);
    }
  }

  async function answerLater(
    call: Call,
    pending: Promise<string>,
    source: RequestSource,
  ): Promise<string> {
    try {
      const envelope = await pending;
      if (source.added !== undefined) checkHeaders(source.added, call.path);
      return envelope;
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

/** What of a request is dear to make is made only when it is asked for. */
class RequestSource implements CallSource {
  readonly request: Request;
  /** Whether a procedure was found, and called. */
  arrived = false;
  /** What procedures have set, if one has looked. */
  added: Headers | undefined = undefined;

  constructor(request: Request) {
    this.request = request;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  get responseHeaders(): Headers {
    return this.added ??= new Headers();
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
  if (type !== null && isJsonType(type)) return;
  throw parseError("The content type must be application/json, in UTF-8");
}

const CHARSET = /^charset\s*=\s*"?utf-?8"?$/i;

/** Only a charset may follow, and a semicolon at the end. */
function isJsonType(text: string): boolean {
  const [type, ...parameters] = text.split(";", 4).map((part) => part.trim());
  if (type!.toLowerCase() !== "application/json") return false;
  if (parameters.at(-1) === "") parameters.pop();
  return parameters.length === 0 ||
    parameters.length === 1 && CHARSET.test(parameters[0]!);
}

function bodyFailure({ problem, message }: BodyError): RPCError {
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
