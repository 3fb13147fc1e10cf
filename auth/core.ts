import type { Plugin } from "../core/plugin.ts";
import { hostnameOf } from "../core/http/addresses.ts";
import { readOrigins } from "../core/http/origin.ts";
import { namesOfCookies } from "./cookies/cookies.ts";
import { OPERATION } from "./error.ts";
import { createEmit } from "./events.ts";
import { createOAuthFlow } from "./oauth/flow.ts";
import type { AuthConfig } from "./options.ts";
import { readOptions } from "./read_options.ts";
import { readProviders } from "./read_providers.ts";
import { createSessionWatcher } from "./sessions/session_watcher.ts";
import { createSessions } from "./sessions/sessions.ts";
import { guardStore } from "./stores/store_guard.ts";
import { createMemorySessionStore } from "./stores/memory_session_store.ts";
import { createKeyRing } from "./tokens/key_ring.ts";

/** The parts of a plugin, which all requests share. */
export type AuthCore = Readonly<ReturnType<typeof createCore>>;

/**
 * Creates the parts of a plugin.
 *
 * @throws {TypeError} If a setting is wrong.
 */
export function createCore(config: AuthConfig) {
  const settings = readOptions(config);
  const { callbacks = {}, debug = false, onEvent, now = Date.now } = config;
  const {
    signInLimiter,
    address = (_, info) => hostnameOf(info),
    providers = [],
  } = config;
  const emit = createEmit({ debug, onEvent, now });
  const keys = createKeyRing(settings.secret);
  const store = settings.strategy === "jwt"
    ? undefined
    : guardStore(config.session?.store ?? createMemorySessionStore({ now }));
  const parts = { settings, keys, store, callbacks, emit, now };
  const sessions = createSessions(parts);
  /** The checks of readiness. */
  const health: NonNullable<Plugin["health"]> = store?.ping === undefined
    ? {}
    : { "session store": () => store.ping!() };
  return {
    settings,
    sessions,
    /** Notices when sessions end. */
    watcher: createSessionWatcher(parts, sessions),
    providers: readProviders(providers),
    callbacks,
    flow: createOAuthFlow(keys, settings.cookie, now),
    emit,
    signInLimiter,
    /** Returns the address of a client, if known. */
    addressOf: address,
    trustedOrigins: readOrigins(
      config.trustedOrigins ?? [],
      OPERATION,
      "trustedOrigins",
    ),
    health,
    /** The cookies that only the plugin reads, for `claimCookies()`. */
    cookieNames: namesOfCookies(settings.cookie),
    /** The clock, in milliseconds. */
    now,
  };
}
