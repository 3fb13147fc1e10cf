import { isCrossOrigin } from "../core/http/origin.ts";

/** Methods that must not change anything (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * Whether a page of another site may have made the browser send a request that
 * can change something. GET is safe, unless it opens a WebSocket: browsers let
 * every page open one (RFC 6455, section 10.2).
 *
 * @param trusted Origins whose pages count as the server's own.
 */
export function isCrossSite(
  request: Request,
  trusted: ReadonlySet<string>,
): boolean {
  const upgrade = request.headers.get("upgrade");
  const opensSocket = upgrade !== null && /websocket/i.test(upgrade);
  const isSafe = SAFE_METHODS.has(request.method) && !opensSocket;
  return !isSafe && isCrossOrigin(request, trusted);
}
