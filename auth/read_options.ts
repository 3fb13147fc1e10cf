/**
 * Checks the settings of the plugin, and completes them.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../core/check/options.ts";
import {
  aBoolean,
  aFunction,
  aNonEmptyString,
  oneOf,
  type Rule,
  rule,
  withMethods,
} from "../core/check/rules.ts";
import {
  type CookieSettings,
  resolveCookie,
} from "./cookies/cookie_settings.ts";
import { configError, OPERATION } from "./error.ts";
import type { AuthCallbacks, AuthConfig, SessionConfig } from "./options.ts";

/** The settings of sessions and their cookie, checked and complete. */
export interface AuthSettings
  extends
    Required<Omit<SessionConfig, "secret" | "issuer" | "audience" | "store">> {
  readonly secret: string | readonly string[];
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly cookie: CookieSettings;
}

const DAY = 24 * 60 * 60;

/** A `Date` can hold the end of a session that has this age and tolerance. */
const MAX_AGE = 1e12;

const seconds = (least: number, most = Number.MAX_VALUE): Rule =>
  rule(
    `a number of seconds, at least ${least}` +
      (most === MAX_AGE ? ` and at most ${MAX_AGE}` : ""),
    (value) => typeof value === "number" && value >= least && value <= most,
  );

const CONFIG: OptionRules<AuthConfig> = {
  secret: true,
  sessionDuration: seconds(1, MAX_AGE),
  providers: rule("an array of providers", Array.isArray),
  oauthRoutes: true,
  session: true,
  callbacks: true,
  cookie: true,
  debug: aBoolean,
  onEvent: aFunction,
  signInLimiter: withMethods(
    "a limiter, such as rateLimitSignIn()",
    "check",
    "succeeded",
  ),
  address: aFunction,
  trustedOrigins: true,
  now: aFunction,
};

const SESSION: OptionRules<SessionConfig> = {
  secret: true,
  strategy: oneOf("jwt", "cookie", "hybrid"),
  maxAge: seconds(1, MAX_AGE),
  updateAge: seconds(0),
  absoluteMaxAge: seconds(1, Infinity),
  clockTolerance: seconds(0, MAX_AGE),
  issuer: aNonEmptyString,
  audience: aNonEmptyString,
  store: withMethods(
    "a store, such as createRedisSessionStore()",
    "get",
    "set",
    "delete",
    "deleteByUser",
  ),
  fallback: oneOf("refuse", "anonymous"),
};

const CALLBACKS: OptionRules<AuthCallbacks> = {
  onSessionCreated: aFunction,
  onSessionValidate: aFunction,
  onSignIn: aFunction,
  onSignOut: aFunction,
  jwt: aFunction,
  session: aFunction,
};

/**
 * Checks all settings but the providers, the origins and the secret's length.
 *
 * @throws {TypeError} If something is wrong.
 */
export function readOptions(config: AuthConfig): AuthSettings {
  checkOptions(config, CONFIG, OPERATION);
  checkOptions(config.session ?? {}, SESSION, OPERATION, "session");
  checkOptions(config.callbacks ?? {}, CALLBACKS, OPERATION, "callbacks");
  const session: Partial<SessionConfig> = config.session ?? {};
  const {
    secret = config.secret,
    strategy = "jwt",
    maxAge = config.sessionDuration ?? 7 * DAY,
    updateAge = Math.min(DAY, maxAge / 2),
    absoluteMaxAge = Infinity,
    clockTolerance = 0,
    issuer,
    audience,
    store,
    fallback = "refuse",
  } = session;
  if (secret === undefined) {
    throw configError(
      "session.secret must be given; make one with: openssl rand -base64 32",
    );
  }
  const unused = store === undefined ? "fallback" : "store";
  if (strategy === "jwt" && session[unused] !== undefined) {
    throw configError(
      `session.${unused} must be absent with the strategy "jwt", which asks no store; use "hybrid" or "cookie"`,
    );
  }
  return {
    secret,
    strategy,
    maxAge,
    updateAge,
    absoluteMaxAge,
    clockTolerance,
    issuer,
    audience,
    fallback,
    cookie: resolveCookie(config.cookie),
  };
}
