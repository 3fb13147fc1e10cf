import { keepPrivate } from "../core/http/cache_control.ts";
import type { RequestScope } from "../core/request_scope.ts";

/**
 * Returns the response to send. It's marked as `private` if it depends on the user.
 *
 * Deno ends the whole server if an upgraded request gets another response than the
 * upgrade's. So its socket is closed instead.
 */
export function finish(
  response: Response,
  request: Request,
  scope: RequestScope,
): Response {
  const { isPersonal, refuseUpgrade, plainResponse } = scope;
  // A scope outlives its request.
  scope.plainResponse = undefined;
  if (refuseUpgrade !== undefined && response.status !== 101) {
    return refuseUpgrade();
  }
  if (!isPersonal) return response;
  if (response !== plainResponse) {
    return keepPrivate(response, request, scope.givenCacheControl);
  }
  // Looking for other headers would take a tenth of a small route's time.
  response.headers.set("cache-control", "private");
  return response;
}
