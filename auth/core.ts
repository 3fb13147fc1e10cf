import type { Plugin } from "../core/plugin.ts";
import { hostnameOf } from "../core/http/network_of.ts";
import { readOrigins } from "../core/http/origin.ts";
import { namesOfCookies } from "./cookies/cookies.ts";
import { OPERATION } from "./error.ts";
import { createEmit, type Emit } from "./events.ts";
import { OAuthFlow } from "./oauth/flow.ts";
import type { AuthCallbacks, AuthConfig, SignInLimiter } from "./options.ts";
import type { AuthProvider } from "./provider.ts";
import { type AuthSettings, readOptions } from "./read_options.ts";
import { readProviders } from "./read_providers.ts";
import { SessionWatcher } from "./sessions/session_watcher.ts";
import { createSessions, type Sessions } from "./sessions/sessions.ts";
import { guardStore } from "./stores/store_guard.ts";
import { createMemorySessionStore } from "./stores/memory_session_store.ts";
import { createKeyRing } from "./tokens/key_ring.ts";

/** The parts of a plugin, which all requests share. */
export interface AuthCore {
  readonly settings: AuthSettings;
  readonly sessions: Sessions;
  /** Notices when sessions end. */
  readonly watcher: SessionWatcher;
  readonly providers: ReadonlyMap<string, AuthProvider>;
  readonly callbacks: AuthCallbacks;
  readonly flow: OAuthFlow;
  readonly emit: Emit;
  readonly signInLimiter: SignInLimiter | undefined;
  /** Returns the address of a client, if known. */
  readonly addressOf: NonNullable<AuthConfig["address"]>;
  readonly trustedOrigins: ReadonlySet<string>;
  /** The checks of readiness. */
  readonly health: NonNullable<Plugin["health"]>;
  /** The cookies that only the plugin reads, for `claimCookies()`. */
  readonly cookieNames: readonly string[];
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/**
 * Creates the parts of a plugin.
 *
 * @throws {TypeError} If a setting is wrong.
 */
export function createCore(config: AuthConfig): AuthCore {
  const settings = readOptions(config);
  const { callbacks = {}, debug = false, onEvent, now = Date.now } = config;
  const emit = createEmit({ debug, onEvent, now });
  const keys = createKeyRing(settings.secret);
  const store = settings.strategy === "jwt"
    ? undefined
    : guardStore(config.session?.store ?? createMemorySessionStore({ now }));
  const sessions = createSessions(
    { settings, keys, store, callbacks, emit, now },
  );
  return {
    settings,
    sessions,
    watcher: new SessionWatcher({ store, sessions, callbacks, now }),
    providers: readProviders(config.providers ?? []),
    callbacks,
    flow: new OAuthFlow({ keys, cookie: settings.cookie, now }),
    emit,
    signInLimiter: config.signInLimiter,
    addressOf: config.address ?? ((_, info) => hostnameOf(info?.remoteAddr)),
    trustedOrigins: readOrigins(
      config.trustedOrigins ?? [],
      OPERATION,
      "trustedOrigins",
    ),
    health: store?.ping === undefined
      ? {}
      : { "session store": () => store.ping!() },
    cookieNames: namesOfCookies(settings.cookie),
    now,
  };
}
