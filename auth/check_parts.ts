/**
 * Checks the functions and objects that an application hands to the plugin:
 * whatever isn't what it should be would fail at a request otherwise, or never
 * be called.
 *
 * @module
 */

import { kindOf } from "../core/check/show.ts";
import { configError } from "./error.ts";
import type { AuthConfig } from "./options.ts";
import type { BaseUser } from "./user.ts";

/** @throws {AuthError} `CONFIG` with the name of what is wrong. */
export function checkParts<U extends BaseUser>(config: AuthConfig<U>): void {
  const { callbacks = {}, onEvent, address, now, signInLimiter } = config;
  for (const [name, callback] of Object.entries(callbacks)) {
    checkFunction(`callbacks.${name}`, callback);
  }
  checkFunction("onEvent", onEvent);
  checkFunction("address", address);
  checkFunction("now", now);
  checkMethods(
    "signInLimiter must be a limiter, as rateLimitSignIn() makes one",
    signInLimiter,
    ["check", "succeeded"],
  );
  checkMethods(
    "session.store must be a store, as createRedisSessionStore() makes one",
    config.session?.store,
    ["get", "set", "delete", "deleteByUser"],
  );
}

function checkFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw configError(`${name} must be a function, received ${kindOf(value)}`);
}

function checkMethods(
  rule: string,
  value: unknown,
  methods: readonly string[],
): void {
  if (value === undefined) return;
  const missing = methods.find((method) =>
    typeof (value as Record<string, unknown> | null)?.[method] !== "function"
  );
  if (missing === undefined) return;
  throw configError(
    `${rule}, received ${
      typeof value === "object" && value !== null
        ? `an object without a function ${missing}`
        : kindOf(value)
    }`,
  );
}
