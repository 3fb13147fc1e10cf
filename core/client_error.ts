/** An error whose code, message and status clients may see. */
export interface ClientError extends Error {
  readonly code: string;
  /** Returns the response to the failed request. */
  toResponse(): Response;
}

const clientErrors = new WeakSet<object>();

/**
 * Marks an error of a module, so that other modules and Hono send its response
 * instead of reporting it.
 */
export function markClientError(error: ClientError): void {
  clientErrors.add(error);
  // Not enumerable, so that logs don't show it.
  const value = () => error.toResponse();
  Object.defineProperty(error, "getResponse", { value });
}

/** Whether an error is meant for the client. Safe for a proxy that throws. */
export function isClientError(error: unknown): error is ClientError {
  return clientErrors.has(error as object);
}
