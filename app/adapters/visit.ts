import type { Context } from "../../core/context.ts";
import { readHost, refuseHost } from "../../core/http/host_header.ts";
import { isResponse } from "../../core/http/is_response.ts";
import type { Next } from "../../core/middleware.ts";
import type { Host } from "../host.ts";

/**
 * Answers a request that another server is handling.
 *
 * It waits for `rest` even if no part does. The other server would lose what
 * comes of it afterwards, or send it instead of the answer.
 *
 * @param rest Runs the rest of that server's chain.
 * @throws Errors that no part answers. A thrown `Response` is the answer.
 */
export async function visit(
  host: Host,
  context: Context,
  rest: Next,
): Promise<Response> {
  if (readHost(context.request) === undefined) return refuseHost();
  let running: Promise<unknown> | undefined;
  let isOver = false;
  try {
    return await host.run(context, () => {
      if (isOver) {
        throw new Error("Cannot call next(): the request was answered before");
      }
      const response = rest();
      running = response.catch(() => {});
      return response;
    });
  } finally {
    await running;
    isOver = true;
  }
}

/** Makes a thrown response the answer. Other errors are for the server. */
export function recoverResponse(error: unknown): Response {
  if (isResponse(error)) return error;
  throw error;
}
