/** The authorization server that users are sent to. */
export interface AuthorizationServer {
  /** The authorization endpoint. */
  readonly authorizationUrl: string;
  /** The token endpoint, which exchanges codes for tokens. */
  readonly tokenUrl: string;
  /** The endpoint that returns the user's claims. */
  readonly userInfoUrl: string | undefined;
  /** How the client's secret is sent (RFC 6749, section 2.3.1). */
  readonly clientAuthentication: "body" | "basic";
  /** Whether it promises to send `iss` with each callback (RFC 9207). */
  readonly isIssuerSent: boolean;
  /** The URL of its public keys. */
  readonly jwksUrl: string | undefined;
  /** The public-key algorithms of its id tokens. */
  readonly algorithms: readonly string[];
}

/** Provides an {@linkcode AuthorizationServer}. */
export interface ServerSource {
  /** The server, if it is known. Reading this has no effect. */
  readonly current: AuthorizationServer | undefined;
  /** Requests the server in the background, unless it is known and recent. */
  renew(): void;
  /** Returns the server, and requests it if it isn't known. */
  load(): Promise<AuthorizationServer>;
}

/** Creates the source of a server that the application configures. */
export function knownServer(server: AuthorizationServer): ServerSource {
  return {
    current: server,
    renew: () => {},
    load: () => Promise.resolve(server),
  };
}
