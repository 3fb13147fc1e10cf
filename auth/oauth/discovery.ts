/**
 * Finds the endpoints of an issuer in its discovery document. The document is
 * requested before the app's first request, or by the first sign-in.
 *
 * @module
 */

import { printable, printableError } from "../../core/redact/printable.ts";
import type {
  AuthorizationServer,
  ServerSource,
} from "./authorization_server.ts";
import type { Transport } from "./http.ts";
import { asObject, ProviderError, requestJSON } from "./http.ts";
import type { GivenServer } from "./server_metadata.ts";
import { readMetadata } from "./server_metadata.ts";

/** Age at which a document is requested again, in milliseconds. */
const MAX_AGE = 60 * 60 * 1000;
/** Time between a failure and the next attempt, in milliseconds. */
const PAUSE = 1_000;
const OPENID = "/.well-known/openid-configuration";
const OAUTH = "/.well-known/oauth-authorization-server";

/** Settings of {@linkcode createDiscovery}. */
export interface DiscoveryOptions {
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
  const { id, transport, now = () => performance.now() } = options;
  let current: AuthorizationServer | undefined;
  let request: Promise<AuthorizationServer> | undefined;
  let next = -Infinity;

  async function discover(): Promise<AuthorizationServer> {
    try {
      current = await requestServer(options, transport);
      next = now() + MAX_AGE;
      return current;
    } catch (error) {
      next = now() + PAUSE;
      console.error(
        "Discovery of provider %s failed:",
        id,
        error instanceof ProviderError
          ? printable(error.message)
          : printableError(error),
      );
      throw error;
    } finally {
      request = undefined;
    }
  }

  function ask(): Promise<AuthorizationServer> {
    return request ??= discover();
  }

  function renew(): void {
    if (now() >= next) ask().catch(() => {});
  }

  return {
    get current() {
      return current;
    },
    renew,
    load() {
      if (current === undefined) return ask();
      renew();
      return Promise.resolve(current);
    },
  };
}

async function requestServer(
  { issuer, isOpenID, given }: DiscoveryOptions,
  transport: Transport,
): Promise<AuthorizationServer> {
  const document = await requestDocument(issuer, isOpenID, transport);
  const what = "the discovery document";
  return readMetadata(asObject(what, document), issuer, given);
}

async function requestDocument(
  issuer: string,
  isOpenID: boolean,
  transport: Transport,
): Promise<unknown> {
  const what = "the discovery document";
  const get = (url: string) =>
    requestJSON(
      what,
      url,
      { headers: { accept: "application/json" } },
      [],
      transport,
    );
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
