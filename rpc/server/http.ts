/**
 * The router over HTTP: queries by GET, queries and mutations by POST, or
 * several in one POST as a batch.
 *
 * @module
 */

import { checkRequest } from "../../core/http/message.ts";
import { readBodyText } from "../../core/http/read_body.ts";
import { isA } from "../../core/check/rules.ts";
import { attempt, type MaybePromise, whenDone } from "../../core/promises.ts";
import { markIdle } from "../../core/personal.ts";
import { RPCError, stringifyError } from "../error.ts";
import type { Transformer } from "../protocol.ts";
import { Call, type CallSource, type Endpoint } from "./call.ts";
import type { Endpoints } from "./endpoints.ts";
import {
  checkContentType,
  checkKind,
  describe,
  type Fields,
  findByKeys,
  findByName,
  methodNotAllowed,
  parseError,
  parseJSON,
  parseObject,
  readInput,
  readObject,
  readQueryString,
  refuseBody,
} from "./read_message.ts";
import type { Reporter } from "./report.ts";
import {
  addHeaders,
  checkHeaders,
  forbidStoring,
  respond,
  respondError,
} from "./respond.ts";
import { dataMember, perform } from "./run.ts";
import { recordCall, recordRefusal, recordRefusedCall } from "./tracing.ts";

/** The parts of a router that HTTP and WebSockets share. */
export interface RouterParts {
  readonly endpoints: Endpoints;
  readonly transformer: Transformer | undefined;
  readonly report: Reporter;
}

/**
 * Answers a request, synchronously if nothing waits.
 *
 * @param path The procedure's dotted path, if the URL names it.
 */
export type HTTPHandler = (
  request: Request,
  ctx?: unknown,
  path?: string,
) => MaybePromise<Response>;

/** Creates the HTTP handler of a router. */
export function createHTTPHandler(
  { endpoints, transformer, report }: RouterParts,
  maxBodySize: number,
  maxBatchSize: number,
): HTTPHandler {
  return (request, ctx, path) => {
    checkRequest(request);
    const source = new RequestSource(request, ctx);
    const { method } = request;
    if (method === "POST") return post(source, path);
    try {
      if (method !== "GET" && method !== "HEAD") throw methodNotAllowed(method);
      const envelope = answerGet(source, path);
      return typeof envelope === "string"
        ? respond(envelope, method, source.added)
        : respondLater(envelope, method, source);
    } catch (error) {
      return refuse(error, method, source);
    }
  };

  async function respondLater(
    envelope: Promise<string>,
    method: string,
    source: RequestSource,
  ): Promise<Response> {
    try {
      return respond(await envelope, method, source.added);
    } catch (error) {
      return refuse(error, method, source);
    }
  }

  async function post(
    source: RequestSource,
    path: string | undefined,
  ): Promise<Response> {
    try {
      checkContentType(source.request.headers);
      const body = readBodyText(source.request, maxBodySize);
      const text = await body.catch(refuseBody);
      const answered = answerPost(source, path, text);
      const envelope = typeof answered === "string" ? answered : await answered;
      if (!source.hasMutated) markIdle(source.request);
      return respond(envelope, "POST", source.added);
    } catch (error) {
      return refuse(error, "POST", source);
    }
  }

  function answerGet(
    source: RequestSource,
    name: string | undefined,
  ): MaybePromise<string> {
    const { path, input } = readQueryString(source.request.url);
    const named = name ?? path;
    if (named === null) {
      throw parseError(
        source.request.headers.has("upgrade")
          ? "Cannot open a socket: handler() answers calls only, use rpcPlugin({ router }) or its handle()"
          : "The query parameter path is missing",
      );
    }
    const endpoint = findByName(endpoints, named);
    checkKind(endpoint, "query");
    return callProcedure(endpoint, source, readQueryInput(input));
  }

  function readQueryInput(text: string | null): unknown {
    if (text === null) return undefined;
    return transformer === undefined
      ? parseJSON(text, "The query parameter input")
      : readInput(transformer, text);
  }

  function answerPost(
    source: RequestSource,
    name: string | undefined,
    text: string,
  ): MaybePromise<string> {
    // If the URL has the path, the body is the input.
    if (name !== undefined) {
      const endpoint = findByName(endpoints, name);
      checkKind(endpoint, endpoint.procedure.kind);
      const input = text === "" ? undefined : parseJSON(text, "The body");
      return callProcedure(endpoint, source, readInput(transformer, input));
    }
    const body = parseObject(text, "The body");
    return body.batch === undefined
      ? answerCall(source, body)
      : answerBatch(source, body.batch);
  }

  function answerCall(
    source: RequestSource,
    { path, type, input }: Fields,
  ): MaybePromise<string> {
    const endpoint = findByKeys(endpoints, path);
    checkKind(endpoint, type);
    return callProcedure(endpoint, source, readInput(transformer, input));
  }

  async function answerBatch(
    source: RequestSource,
    batch: unknown,
  ): Promise<string> {
    if (!Array.isArray(batch) || batch.length === 0) {
      const received = Array.isArray(batch) ? "an empty one" : describe(batch);
      throw parseError(
        `batch must be an array of calls, received ${received}`,
      );
    }
    if (batch.length > maxBatchSize) {
      throw new RPCError(
        "PAYLOAD_TOO_LARGE",
        `A batch holds at most ${maxBatchSize} calls, received ${batch.length}`,
        413,
      );
    }
    const sources = batch.map(() =>
      new RequestSource(source.request, source.ctx)
    );
    let hasFailed = false;
    const envelopes = await Promise.all(batch.map(async (call, index) => {
      const source = sources[index]!;
      try {
        return await answerCall(source, readObject(call, "A call of a batch"));
      } catch (error) {
        if (!isA(error, RPCError)) throw error;
        hasFailed = true;
        if (!source.arrived) recordRefusedCall(error);
        if (error.headers !== undefined) {
          addHeaders(source.responseHeaders, new Headers(error.headers));
        }
        // The batch has one HTTP status, so each envelope has its own.
        const text = stringifyError(error);
        return `{"ok":false,"status":${error.status},"error":${text}}`;
      }
    }));
    for (const { added, hasMutated } of sources) {
      if (added !== undefined) addHeaders(source.responseHeaders, added);
      source.hasMutated ||= hasMutated;
    }
    if (hasFailed && source.added !== undefined) forbidStoring(source.added);
    return `{"ok":true,"data":[${envelopes.join(",")}]}`;
  }

  /** Runs a procedure. Returns the envelope of its success. */
  function callProcedure(
    endpoint: Endpoint,
    source: RequestSource,
    input: unknown,
  ): MaybePromise<string> {
    const call = new Call(endpoint, source.ctx, source);
    source.arrived = true;
    recordCall(endpoint.path);
    return attempt(runCall, fail, call, source, input);
  }

  function runCall(
    call: Call,
    source: RequestSource,
    input: unknown,
  ): MaybePromise<string> {
    return whenDone(perform(call, input, success), finish, call, source);
  }

  function finish(envelope: string, call: Call, source: RequestSource): string {
    if (source.added !== undefined) checkHeaders(source.added, call.path);
    call.settle();
    source.hasMutated = call.type === "mutation";
    return envelope;
  }

  function fail(error: unknown, call: Call): never {
    const failure = report(error, call);
    call.settle();
    throw failure;
  }

  function success(data: unknown): string {
    return `{"ok":true${dataMember(data, transformer)}}`;
  }
}

/** A request, with properties that are slow to create as getters. */
class RequestSource implements CallSource {
  readonly request: Request;
  readonly ctx: unknown;
  /** Whether a procedure was found and called. */
  arrived = false;
  /** Whether a mutation was carried out. */
  hasMutated = false;
  /** The headers set by procedures, if any. */
  added: Headers | undefined = undefined;

  constructor(request: Request, ctx: unknown) {
    this.request = request;
    this.ctx = ctx;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  get responseHeaders(): Headers {
    return this.added ??= new Headers();
  }
}

function refuse(
  error: unknown,
  method: string,
  source: RequestSource,
): MaybePromise<Response> {
  if (!isA(error, RPCError)) return Promise.reject(error);
  if (!source.arrived) recordRefusal(error);
  return respondError(error, method, source.added);
}
