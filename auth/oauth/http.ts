/**
 * Requests to a provider that may be hostile. Time and memory are limited, and its
 * text reaches only the log.
 *
 * @module
 */

import { isObject } from "../../core/check/rules.ts";
import { BodyError, readStream } from "../../core/http/read_body.ts";
import { observe } from "../../core/observe.ts";
import { withTimeout } from "../../core/promises.ts";
import { SignInReason } from "../error.ts";
import { errorText } from "./provider_text.ts";

/** The largest answer that is read, in bytes. */
const MAX_BODY = 1024 * 1024;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/** How requests are sent. */
export interface Transport {
  readonly fetch: typeof fetch;
  /** The maximum of each request with its body, in milliseconds. */
  readonly timeout: number;
}

/** Why a provider's answer can't be used. For the log, not for the client. */
export class ProviderError extends SignInReason {
  /** Always `ProviderError`. */
  override readonly name = "ProviderError";
  /** The status of the answer, if there was one. */
  readonly status: number | undefined;

  /** Creates an error. */
  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/**
 * Requests a JSON value.
 *
 * @param what The endpoint in errors, such as `the token endpoint`.
 * @param secrets Values that are sent, which errors must not echo.
 * @throws {ProviderError} If the answer is late, a redirect, an error, not JSON,
 * or larger than 1 MiB.
 */
export async function requestJSON(
  what: string,
  url: string,
  init: RequestInit,
  secrets: readonly string[],
  { fetch, timeout }: Transport,
): Promise<unknown> {
  const controller = new AbortController();
  const late = () => {
    controller.abort();
    return new ProviderError(`${what} took more than ${timeout} ms`);
  };
  const answer = async () => {
    // A redirect would carry the code, the secret or the token elsewhere.
    const { signal } = controller;
    const sent: RequestInit = { ...init, redirect: "manual", signal };
    const send = () => fetch(url, sent);
    const response = await observeFetch(url, init.method, send);
    return await readJSON(what, response, secrets);
  };
  try {
    // An application's own `fetch` may ignore the signal.
    return await withTimeout(answer(), timeout, late);
  } catch (cause) {
    if (cause instanceof ProviderError) throw cause;
    if (cause instanceof BodyError) {
      throw new ProviderError(`${what} failed: ${cause.message}`);
    }
    throw new ProviderError(`${what} can't be reached`, undefined, { cause });
  }
}

/** Sends a request in a span, without the query of its URL. */
function observeFetch(
  url: string,
  method = "GET",
  send: () => Promise<Response>,
): Promise<Response> {
  const { origin, host, hostname, pathname } = new URL(url);
  return observe(`fetch ${method} ${host}${pathname}`, "auth", async (span) => {
    span?.setAttribute("http.request.method", method);
    span?.setAttribute("url.full", `${origin}${pathname}`);
    span?.setAttribute("server.address", hostname);
    const response = await send();
    span?.setAttribute("http.response.status_code", response.status);
    if (!response.ok && span !== undefined) {
      span.setAttribute("error.type", String(response.status));
      span.error(undefined);
    }
    return response;
  });
}

async function readJSON(
  what: string,
  response: Response,
  secrets: readonly string[],
): Promise<unknown> {
  const { status, headers } = response;
  if (!JSON_TYPE.test(headers.get("content-type") ?? "")) {
    await response.body?.cancel();
    const how = headers.has("location")
      ? ", with a redirect that isn't followed"
      : "";
    const problem = `${what} answered ${status} without JSON${how}`;
    throw new ProviderError(problem, status);
  }
  const text = await readStream(response, MAX_BODY);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProviderError(`${what} answered ${status} with bad JSON`, status);
  }
  // GitHub reports errors with status 200.
  const error = isObject(value) ? value["error"] ?? undefined : undefined;
  if (!response.ok || error !== undefined) {
    const code = error === undefined ? "" : `: ${errorText(error, secrets)}`;
    throw new ProviderError(`${what} answered ${status}${code}`, status);
  }
  return value;
}

/** Returns an answer that must be an object. */
export function asObject(
  what: string,
  value: unknown,
): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new ProviderError(`${what} did not answer with an object`);
}
