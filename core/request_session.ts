/** The session of a request, for code that outlives the request. */
export interface RequestSession {
  /**
   * Names the session and its roles: requests of the same session have the same
   * key, until it gains or loses a role. `undefined` if there is none that could
   * end, as with an API key.
   */
  readonly sessionKey: string | undefined;
  /** Whether code has asked for the user of the request. */
  readonly isAsked: boolean;
  /**
   * Watches the session.
   *
   * @param onEnd Called once, when the session ends or loses a role.
   */
  watchSession(onEnd: () => void): SessionWatch;
}

/** A session that is being watched. */
export interface SessionWatch {
  /**
   * Looks whether the session has ended without notice, such as before the watch
   * began, unless that was done in the last second.
   *
   * @returns A promise that resolves once `onEnd` has been called if so. It never
   * rejects. `undefined` if there is nothing to look at.
   */
  look(): Promise<void> | undefined;
  /** Stops watching. `onEnd` isn't called any more. */
  stop(): void;
}
