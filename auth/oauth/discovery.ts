/**
 * Finds the endpoints of an issuer in its discovery document. The document is
 * requested before the app's first request, or by the first sign-in.
 *
 * @module
 */

import { printable, printableError } from "../../core/redact/printable.ts";
import { redactText } from "../../core/redact/redact.ts";
import {
  type AuthorizationServer,
  type GivenServer,
  readMetadata,
} from "./authorization_server.ts";
import {
  asObject,
  ProviderError,
  requestJSON,
  type Transport,
} from "./http.ts";

/** Provides an {@linkcode AuthorizationServer}. */
export interface ServerSource {
  /** The server, if it is known. Reading this has no effect. */
  readonly current: AuthorizationServer | undefined;
  /** Requests the server in the background, unless it is known and recent. */
  renew(): void;
  /** Returns the server, and requests it if it isn't known. */
  load(): Promise<AuthorizationServer>;
}

/**
 * Creates the source of a server that the application configures.
 *
 * @param given The settings, with `authorizationUrl` and `tokenUrl`.
 */
export function knownServer(given: GivenServer): ServerSource {
  const server: AuthorizationServer = {
    authorizationUrl: given.authorizationUrl!,
    tokenUrl: given.tokenUrl!,
    userInfoUrl: given.userInfoUrl,
    clientAuthentication: given.clientAuthentication ?? "body",
    isIssuerSent: false,
    idToken: given.idToken,
  };
  return {
    current: server,
    renew: () => {},
    load: () => Promise.resolve(server),
  };
}

/** Age at which a document is requested again, in milliseconds. */
const MAX_AGE = 60 * 60 * 1000;
/** Time between a failure and the next attempt, in milliseconds. */
const PAUSE = 1_000;
const OPENID = "/.well-known/openid-configuration";
const OAUTH = "/.well-known/oauth-authorization-server";

/** Settings of {@linkcode createDiscovery}. */
interface DiscoveryOptions {
  /** The provider's id, for the log. */
  readonly id: string;
  readonly issuer: string;
  /** Whether the issuer is an OpenID provider. */
  readonly isOpenID: boolean;
  readonly given: GivenServer;
  readonly transport: Transport;
  /** Returns the time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Creates the source of an issuer's endpoints.
 *
 * One request runs at a time. A stale document stays in use while it is
 * requested again, and if that fails.
 */
export function createDiscovery(options: DiscoveryOptions): ServerSource {
  const { id, now = () => performance.now() } = options;
  let current: AuthorizationServer | undefined;
  let inFlight: Promise<AuthorizationServer> | undefined;
  let next = -Infinity;

  async function request(): Promise<AuthorizationServer> {
    try {
      current = await requestServer(options);
      next = now() + MAX_AGE;
      return current;
    } catch (error) {
      next = now() + PAUSE;
      const advice = options.issuer.includes("/.well-known/")
        ? "; issuer is the address without /.well-known/…"
        : "";
      console.error(
        "Discovery of provider %s failed:",
        id,
        error instanceof ProviderError
          ? printable(error.message + causeOf(error) + advice)
          : printableError(error),
      );
      throw error;
    } finally {
      inFlight = undefined;
    }
  }

  const source: ServerSource = {
    get current() {
      return current;
    },
    renew() {
      if (now() >= next) (inFlight ??= request()).catch(() => {});
    },
    load() {
      if (current === undefined) return inFlight ??= request();
      source.renew();
      return Promise.resolve(current);
    },
  };
  return source;
}

/** Returns the innermost cause of an error. These requests hold no secret. */
function causeOf({ cause }: Error): string {
  while (cause instanceof Error && cause.cause instanceof Error) {
    ({ cause } = cause);
  }
  return cause instanceof Error ? `: ${redactText(cause.message)}` : "";
}

async function requestServer(
  { issuer, isOpenID, given, transport }: DiscoveryOptions,
): Promise<AuthorizationServer> {
  const init = { headers: { accept: "application/json" } };
  const get = async (url: string) => {
    const what = `the discovery document at ${url}`;
    const document = await requestJSON(what, url, init, [], transport);
    return readMetadata(asObject(what, document), issuer, isOpenID, given);
  };
  const base = issuer.replace(/\/$/, "");
  if (isOpenID) return await get(base + OPENID);
  try {
    // RFC 8414, section 3.1 puts the suffix between the host and the path.
    const { origin, pathname } = new URL(base);
    return await get(origin + OAUTH + pathname.replace(/\/$/, ""));
  } catch (error) {
    if (!(error instanceof ProviderError) || error.status !== 404) throw error;
    return await get(base + OPENID);
  }
}
