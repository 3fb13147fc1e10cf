import type { Context } from "../../core/context.ts";
import type { Host } from "../host.ts";
import { guardCaches } from "../../core/http/cache_control.ts";
import { readHost, refuseHost } from "../../core/http/host_header.ts";
import { isResponse } from "../../core/http/is_response.ts";
import type { Next } from "../../core/middleware.ts";
import {
  currentScope,
  RequestScope,
  runInScope,
} from "../../core/request_scope.ts";

/**
 * Answers a request that another server is handling, in the scope of that.
 *
 * It waits for `rest` even if no part does, because what comes of a request
 * that is over is lost, or worse, taken for what was answered instead.
 *
 * @param rest What is further in on that server.
 * @throws What no part has an answer for. A thrown `Response` is the answer.
 */
export function visit(
  host: Host,
  context: Context,
  rest: Next,
): Promise<Response> {
  const { request } = context;
  if (readHost(request) === undefined) return Promise.resolve(refuseHost());
  const scope = new RequestScope(context, undefined, currentScope());
  return runInScope(scope, async () => {
    const response = await answer(host, context, rest);
    return guardCaches(response, request, scope);
  });
}

async function answer(
  host: Host,
  context: Context,
  rest: Next,
): Promise<Response> {
  let running: Promise<unknown> | undefined;
  let isOver = false;
  try {
    return await host.handle(context.request, context, () => {
      if (isOver) {
        throw new Error("Cannot call next(): the request was answered before");
      }
      const response = rest();
      running = response.catch(() => {});
      return response;
    });
  } catch (error) {
    if (isResponse(error)) return error;
    throw error;
  } finally {
    await running;
    isOver = true;
  }
}

/** Has the outermost middlewares see a thrown response like a returned one. */
export async function answerThrown(
  _request: Request,
  _context: Context,
  next: Next,
): Promise<Response> {
  try {
    return await next();
  } catch (error) {
    if (isResponse(error)) return error;
    throw error;
  }
}
