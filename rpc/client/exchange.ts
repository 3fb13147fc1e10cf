import type { RPCFailure } from "../error.ts";
import type { CallOptions, HTTPClientOptions } from "./types.ts";

/** What came of a call: nothing here has been looked at. */
export interface Answer {
  /** Whether there is an output. */
  readonly ok?: boolean;
  /** The output. */
  readonly data?: unknown;
  /** What failed. */
  readonly error?: RPCFailure | false | undefined;
  /** The HTTP status that the call had or would have had alone. */
  readonly status: number;
  /** What kept the router's own answer from coming. */
  readonly cause?: unknown;
}

/** Sends a request, a POST if it has a body. */
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
    try {
      const response = await (send ?? fetch)(url, init);
      status = response.status;
      return { ...await response.json(), status };
    } catch (cause) {
      const error = !status &&
        { code: "NETWORK_ERROR", message: "No answer" };
      return { ok: false, status, cause, error };
    }
  };
}
