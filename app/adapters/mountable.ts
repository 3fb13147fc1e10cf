import { kindOf } from "../../core/check/show.ts";
import type { Context } from "../../core/context.ts";
import { holdsGuard, readGuards } from "../../core/guard_fragment.ts";
import type { Middleware } from "../../core/middleware.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { AuthFragment } from "../../core/route.ts";
import { guard } from "../guard.ts";

/** A part that can be mounted on another server. */
export type Mountable =
  /** A module of the kit, such as the result of `createAuthPlugin()`. */
  | Plugin
  /** A middleware, such as the result of `cacheResponse()`. */
  | Middleware<Context>
  /** A guard, such as the result of `requireAuth()`, or several in one object. */
  | AuthFragment;

/** Turns each part into a plugin, in the same order. */
export function toPlugins(parts: readonly Mountable[]): Plugin[] {
  return parts.map((part, index) => {
    const name = `part ${index + 1}`;
    if (typeof part === "function") return { name, middleware: part };
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
    throw new TypeError(
      `Cannot mount ${name}: it must be a plugin, a middleware or what requireAuth() gives, received ${
        kindOf(part)
      }`,
    );
  });
}
