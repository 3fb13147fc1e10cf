import { isCrossOrigin } from "../core/http/origin.ts";
import type { AuthCore } from "./core.ts";
import type { Identity } from "./sessions/describe.ts";
import type { BaseUser } from "./user.ts";

/** Methods that must not change anything (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * Whether the page of another site may have made the browser send a request.
 *
 * @param identity The identity that the request claims, if any.
 */
export function isForged<U extends BaseUser>(
  core: AuthCore<U>,
  identity: Identity<U> | undefined,
  request: Request,
): boolean {
  return isSentByBrowsers(identity) &&
    (!SAFE_METHODS.has(request.method) || opensSocket(request)) &&
    isCrossOrigin(request, core.trustedOrigins);
}

/** Whether browsers may add the credentials by themselves. */
function isSentByBrowsers<U extends BaseUser>(
  identity: Identity<U> | undefined,
): boolean {
  switch (identity?.evidence) {
    case "bearer":
      return false;
    case "request":
      return identity.isSentByBrowsers !== false;
    default:
      return true;
  }
}

/**
 * Whether it is a GET that opens a WebSocket. What is sent on that may do
 * anything, and browsers let every page open one (RFC 6455, section 10.2).
 */
function opensSocket({ headers }: Request): boolean {
  const upgrade = headers.get("upgrade");
  return upgrade !== null && upgrade.toLowerCase().includes("websocket");
}
