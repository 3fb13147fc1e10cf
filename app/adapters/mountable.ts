import type { Context } from "../../core/context.ts";
import { guard } from "../guard.ts";
import { holdsGuard, readGuards } from "../../core/guard_fragment.ts";
import { kindOf } from "../../core/check/show.ts";
import type { Middleware } from "../../core/middleware.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { AuthFragment, AuthRule } from "../../core/route.ts";

/** What can be mounted on a server of another make. */
export type Mountable =
  /** A module of the kit, such as `createAuthPlugin()` gives. */
  | Plugin
  /** A middleware, such as `cacheResponse()` gives. */
  | Middleware<Context>
  /** A guard, such as `requireAuth()` returns, or several spread together. */
  | AuthFragment;

/** Gives each part the form of a plugin, in the same order. */
export function toPlugins(parts: readonly Mountable[]): Plugin[] {
  return parts.map((part, index) => {
    const name = `part ${index + 1}`;
    if (typeof part === "function") return { name, middleware: part };
    if (typeof part === "object" && part !== null) {
      if ("name" in part && typeof part.name === "string") return part;
      if (holdsGuard(part)) {
        const rule = readGuards(part, `mount ${name}`, "")!;
        return { name, middleware: guardBy(rule) };
      }
    }
    throw new TypeError(
      `Cannot mount ${name}: it must be a plugin, a middleware or what requireAuth() gives, received ${
        kindOf(part)
      }`,
    );
  });
}

function guardBy(rule: AuthRule): Middleware<Context> {
  return (request, context, next) => {
    const place = `${request.method} ${context.url.pathname}`;
    return guard(rule, place, request, context, next);
  };
}
