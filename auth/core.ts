import type { ConnectionInfo } from "../core/context.ts";
import { readOrigins } from "../core/http/origin.ts";
import { namesOfCookies } from "./cookies/cookies.ts";
import { checkProvider } from "./check_provider.ts";
import { AuthError, configError } from "./error.ts";
import type { Emit } from "./events.ts";
import { createEmit } from "./events.ts";
import type { OAuthFlow } from "./oauth/flow.ts";
import { createOAuthFlow } from "./oauth/flow.ts";
import type {
  AuthCallbacks,
  AuthConfig,
  AuthSettings,
  SignInLimiter,
} from "./options.ts";
import type { AuthProvider } from "./provider.ts";
import type { Describer } from "./sessions/describe.ts";
import { createDescriber } from "./sessions/describe.ts";
import { Sessions } from "./sessions/sessions.ts";
import type { SessionStore } from "./stores/session_store.ts";
import { createKeyRing } from "./tokens/key_ring.ts";
import type { BaseUser } from "./user.ts";

/** What all requests share: the parts that a plugin is put together from. */
export interface AuthCore<U extends BaseUser> {
  readonly settings: AuthSettings;
  readonly sessions: Sessions<U>;
  readonly providers: ReadonlyMap<string, AuthProvider<U>>;
  /** Those of them that may know a request by what it carries. */
  readonly requestProviders: readonly AuthProvider<U>[];
  readonly callbacks: AuthCallbacks<U>;
  readonly flow: OAuthFlow;
  readonly emit: Emit;
  readonly signInLimiter: SignInLimiter | undefined;
  /** The address of who has sent a request, if that is known. */
  readonly addressOf: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | undefined;
  readonly trustedOrigins: ReadonlySet<string>;
  /** The cookies that only the plugin reads, for `claimCookies`. */
  readonly cookieNames: readonly string[];
  /** Lets the `session` callback build what handlers see. */
  readonly describe: Describer<U>;
}

/** Puts them together from what an application has configured. */
export function createCore<U extends BaseUser>(
  config: AuthConfig<U>,
  settings: AuthSettings,
  store: SessionStore | undefined,
  now: () => number,
): AuthCore<U> {
  const { callbacks = {}, debug = false, onEvent, signInLimiter } = config;
  const emit = createEmit({ debug, onEvent, now });
  const keys = createKeyRing(settings.secret);
  const providers = readProviders(config.providers ?? []);
  return {
    settings,
    providers,
    requestProviders: [...providers.values()].filter(({ authenticate }) =>
      authenticate !== undefined
    ),
    callbacks,
    sessions: new Sessions({ settings, keys, store, callbacks, emit, now }),
    flow: createOAuthFlow({ keys, cookie: settings.cookie, now }),
    emit,
    signInLimiter,
    addressOf: config.address ?? remoteAddress,
    trustedOrigins: originsOf(config.trustedOrigins),
    cookieNames: namesOfCookies(settings.cookie),
    describe: createDescriber(callbacks),
  };
}

function readProviders<U extends BaseUser>(
  list: readonly AuthProvider<U>[],
): ReadonlyMap<string, AuthProvider<U>> {
  const providers = new Map<string, AuthProvider<U>>();
  for (const provider of list) {
    checkProvider(provider);
    const { id } = provider;
    if (providers.has(id)) {
      throw configError(`two providers have the id ${JSON.stringify(id)}`);
    }
    providers.set(id, provider);
  }
  return providers;
}

function originsOf(origins: readonly string[] = []): ReadonlySet<string> {
  try {
    return readOrigins(origins, "create auth plugin", "trustedOrigins");
  } catch (cause) {
    throw new AuthError("CONFIG", (cause as Error).message, { cause });
  }
}

function remoteAddress(
  _request: Request,
  info: ConnectionInfo | undefined,
): string | undefined {
  const address = info?.remoteAddr;
  return address !== undefined && "hostname" in address
    ? address.hostname
    : undefined;
}
