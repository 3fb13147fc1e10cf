/**
 * Checks the names of the plugin's settings. An unknown name may be a misspelt
 * security setting.
 *
 * @module
 */

import type { Rules } from "../core/check/check_options.ts";
import { findProblem } from "../core/check/check_options.ts";
import type { OptionRules } from "../core/check/check_options.ts";
import type { CookieOptions } from "./cookies/cookie_settings.ts";
import { configError } from "./error.ts";
import type { AuthCallbacks, AuthConfig, SessionConfig } from "./options.ts";
import type { BaseUser } from "./user.ts";

const CONFIG: OptionRules<AuthConfig> = {
  secret: true,
  sessionDuration: true,
  providers: true,
  session: true,
  callbacks: true,
  cookie: true,
  debug: true,
  onEvent: true,
  signInLimiter: true,
  address: true,
  trustedOrigins: true,
  now: true,
};

const SESSION: OptionRules<SessionConfig> = {
  secret: true,
  strategy: true,
  maxAge: true,
  updateAge: true,
  absoluteMaxAge: true,
  clockTolerance: true,
  issuer: true,
  audience: true,
  store: true,
};

const CALLBACKS: OptionRules<AuthCallbacks> = {
  onSessionCreated: true,
  onSessionValidate: true,
  onSignIn: true,
  onSignOut: true,
  jwt: true,
  session: true,
};

const COOKIE: OptionRules<CookieOptions> = {
  name: true,
  secure: true,
  sameSite: true,
  domain: true,
  path: true,
  httpOnly: true,
};

/** @throws {AuthError} `CONFIG` if a name is unknown. */
export function checkNames<U extends BaseUser>(config: AuthConfig<U>): void {
  check(config, CONFIG, "options");
  check(config.session ?? {}, SESSION, "session");
  check(config.callbacks ?? {}, CALLBACKS, "callbacks");
  check(config.cookie ?? {}, COOKIE, "cookie");
}

function check(
  value: unknown,
  known: Rules,
  name: string,
): void {
  const problem = findProblem(value, known, name);
  if (problem !== undefined) throw configError(problem);
}
