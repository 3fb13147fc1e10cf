/**
 * Carries what an application's `profile()` has thrown past those who would
 * take it for a failure of the provider.
 */
export class ProfileFailure extends Error {
  /** Wraps what was thrown. */
  constructor(cause: unknown) {
    super("profile() has failed", { cause });
  }
}
