import type { Envelope } from "../protocol.ts";
import type { CallOptions, HTTPClientOptions } from "./types.ts";

/** What came of a call, with the status it had or would have had alone. */
export type Answer = Envelope & {
  readonly status: number;
  /** What kept the router's own answer from coming. */
  readonly cause?: unknown;
};

/** Sends a request, a POST if it has a body. It rejects if it is given up. */
export type Exchange = (
  url: string,
  options: CallOptions,
  body?: unknown,
) => Promise<Answer>;

/** Makes what sends requests. */
export function createExchange(
  { fetch: send, headers: base }: HTTPClientOptions,
): Exchange {
  return async (url, { signal = null, headers: more }, body) => {
    const headers = new Headers(
      typeof base === "function" ? await base() : base,
    );
    new Headers(more).forEach((value, name) => headers.set(name, value));
    const init: RequestInit = { headers, signal };
    if (body) {
      init.method = "POST";
      init.body = JSON.stringify(body);
      headers.set("content-type", "application/json");
    }
    let status = 0;
    let cause: unknown;
    try {
      const response = await (send ?? fetch)(url, init);
      status = response.status;
      const answer = await response.json();
      if (answer.ok === !!answer.ok) return { ...answer, status };
    } catch (error) {
      signal?.throwIfAborted();
      cause = error;
    }
    const code = status ? "BAD_RESPONSE" : "NETWORK_ERROR";
    const message = status ? `HTTP ${status} without an answer` : "No answer";
    return { ok: false, error: { code, message }, status, cause };
  };
}
