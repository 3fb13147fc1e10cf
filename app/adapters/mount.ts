/**
 * Mounts parts of the kit on another server.
 *
 * @module
 */

import { checkValue } from "../../core/check/options.ts";
import { isA, kindOf, rule } from "../../core/check/rules.ts";
import type { Context } from "../../core/context.ts";
import { holdsGuard, readGuards } from "../../core/guard_fragment.ts";
import { readHost, refuseHost } from "../../core/http/origin.ts";
import { isResponse, isUnread, unsentError } from "../../core/http/message.ts";
import {
  isUncalled,
  type Middleware,
  type Next,
} from "../../core/middleware.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { AuthFragment } from "../../core/route.ts";
import { UnavailableError } from "../../core/error_response.ts";
import { guard } from "../guard.ts";
import type { Host } from "../host.ts";

/** A part that can be mounted on another server. */
export type Mountable =
  /** A module of the kit, such as the result of `createAuthPlugin()`. */
  | Plugin
  /** A middleware, such as the result of `cacheResponse()`. */
  | Middleware<Context>
  /** A guard, such as the result of `requireAuth()`, or several in one object. */
  | AuthFragment;

const aPartList = rule(
  "an array of plugins, middlewares and guards",
  Array.isArray,
);

/** Turns each part into a plugin, in the same order. */
export function toPlugins(parts: readonly Mountable[]): Plugin[] {
  checkValue(parts, "parts", aPartList, "mount parts");
  return parts.map((part, index) => {
    const name = `part ${index + 1}`;
    if (typeof part === "function") {
      if (!isUncalled(part)) return { name, middleware: part };
      throw new TypeError(
        `Cannot mount ${name}: received the function ${part.name}; call it: ${part.name}()`,
      );
    }
    if (typeof part === "object" && part !== null) {
      if ("name" in part && typeof part.name === "string") return part;
      if (holdsGuard(part)) {
        const rule = readGuards(part, `mount ${name}`, "")!;
        return {
          name,
          middleware: (request, context, next) =>
            guard(rule, name, request, context, next),
        };
      }
    }
    const received = kindOf(part) +
      (Array.isArray(part) ? "; pass its elements" : "");
    throw new TypeError(
      `Cannot mount ${name}: it must be a plugin such as tracePlugin(tracer), a middleware, or a guard such as requireAuth(), received ${received}`,
    );
  });
}

/**
 * Answers a request that another server is handling.
 *
 * It waits for `rest` even if no part does. Otherwise the other server could
 * lose its result, or send it instead of the response.
 *
 * @param rest Runs the rest of that server's chain.
 * @throws Errors that no part handles. A thrown `Response` becomes the
 * response.
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

/**
 * Returns the answer to a HEAD request. Hono leaves the body unread, and Node waits
 * for its end. So a stream, and its trace, might never end.
 */
export function withoutBody(response: Response): Response {
  const { body } = response;
  if (body === null || body.locked) return response;
  // It settles only once both branches of a clone are cancelled.
  body.cancel().catch(() => {});
  return new Response(null, response);
}

/**
 * Returns a thrown response, or the 503 of an `UnavailableError`. Throws other
 * errors on, to the server.
 */
export function recoverResponse(error: unknown, request: Request): Response {
  if (isUnread(error)) return error;
  if (isA(error, UnavailableError)) return error.toResponse();
  throw isResponse(error) ? unsentError(request, error) : error;
}
