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
  { isPersonal, givenCacheControl, refuseUpgrade }: RequestScope,
): Response {
  if (refuseUpgrade !== undefined && response.status !== 101) {
    return refuseUpgrade();
  }
  return isPersonal
    ? keepPrivate(response, request, givenCacheControl)
    : response;
}
