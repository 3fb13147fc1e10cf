import { isCrossOrigin } from "../app/internal/origin.ts";
import type { AuthCore } from "./core.ts";
import type { Evidence } from "./sessions/session_proofs.ts";
import type { BaseUser } from "./user.ts";

/** Methods that must not change anything (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * Whether the page of another site may have made the browser send a request.
 *
 * @param evidence What has shown who it is from, if anything has.
 */
export function isForged<U extends BaseUser>(
  core: AuthCore<U>,
  evidence: Evidence | undefined,
  request: Request,
): boolean {
  // Browsers add cookies by themselves, but neither tokens nor keys: but for a
  // key that is part of an address to which another page leads them.
  return evidence !== "bearer" &&
    (evidence !== "request" || hasKeyInAddress(core, request)) &&
    (!SAFE_METHODS.has(request.method) || opensSocket(request)) &&
    isCrossOrigin(request, core.trustedOrigins);
}

function hasKeyInAddress<U extends BaseUser>(
  { requestProviders }: AuthCore<U>,
  { url }: Request,
): boolean {
  const query = URL.parse(url)?.searchParams;
  return requestProviders.some(({ queryParam }) =>
    queryParam !== undefined && query?.has(queryParam)
  );
}

/**
 * Whether it is a GET that opens a WebSocket. What is sent on that may do
 * anything, and browsers let every page open one (RFC 6455, section 10.2).
 */
function opensSocket({ headers }: Request): boolean {
  const upgrade = headers.get("upgrade");
  return upgrade !== null && upgrade.toLowerCase().includes("websocket");
}
