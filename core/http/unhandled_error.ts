/** The errors behind responses, in objects because any value can be thrown. */
const errors = new WeakMap<Response, { readonly error: unknown }>();

/**
 * Notes that a response is the default one for an error that the application
 * didn't handle. The dev command replaces it.
 */
export function noteUnhandledError(
  response: Response,
  error: unknown,
): Response {
  errors.set(response, { error });
  return response;
}

/** Returns the error behind a default response, if it is one. */
export function unhandledErrorOf(
  response: Response,
): { readonly error: unknown } | undefined {
  return errors.get(response);
}
