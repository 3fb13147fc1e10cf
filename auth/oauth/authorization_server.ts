/** The server that users are sent to, as far as it is known. */
export interface AuthorizationServer {
  /** Where users are sent to. */
  readonly authorizationUrl: string;
  /** Where codes become tokens. */
  readonly tokenUrl: string;
  /** The endpoint that returns the user's claims. */
  readonly userInfoUrl: string | undefined;
  /** How the client's secret is sent (RFC 6749, section 2.3.1). */
  readonly clientAuthentication: "body" | "basic";
  /** Whether it says that all its callbacks have `iss` (RFC 9207). */
  readonly isIssuerSent: boolean;
  /** Where its public keys are. */
  readonly jwksUrl: string | undefined;
  /** The public-key algorithms that it signs id tokens with. */
  readonly algorithms: readonly string[];
}

/** Where an {@linkcode AuthorizationServer} comes from. */
export interface ServerSource {
  /** The server, if it is known. Reading this has no effect. */
  readonly current: AuthorizationServer | undefined;
  /** Has it requested, unless it is known and recent. Nobody waits for it. */
  renew(): void;
  /** Waits until it is known. */
  load(): Promise<AuthorizationServer>;
}

/** Makes the source of a server that the application describes itself. */
export function knownServer(server: AuthorizationServer): ServerSource {
  return {
    current: server,
    renew: () => {},
    load: () => Promise.resolve(server),
  };
}
