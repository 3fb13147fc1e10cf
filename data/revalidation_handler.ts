import { checkValue } from "../core/check/options.ts";
import { aNonEmptyString, kindOf, type Rule } from "../core/check/rules.ts";
import { errorResponse, methodNotAllowed } from "../core/error_response.ts";
import { checkRequest } from "../core/http/message.ts";
import { type BodyError, readBodyJSON } from "../core/http/read_body.ts";
import { runOutside } from "../core/request_scope.ts";
import type { RevalidateOptions, RevalidateResult } from "./revalidation.ts";

/** Maximum size of a body, in bytes. */
const MAX_BODY = 64 * 1024;

/**
 * See `createRevalidationHandler()`.
 *
 * @param given Its arguments: none, or the secret.
 */
export function createHandler(
  revalidate: (options: RevalidateOptions) => Promise<RevalidateResult>,
  given: readonly [secret?: string | undefined],
): (request: Request) => Promise<Response> {
  const isAllowed = createGate(given);

  return async function handleRevalidation(request) {
    checkRequest(request);
    if (request.method !== "POST") {
      return methodNotAllowed("Revalidation requires POST", "POST");
    }
    if (!await isAllowed(request)) {
      return errorResponse(
        401,
        "UNAUTHORIZED",
        "The Authorization header must be: Bearer <secret>",
        { "www-authenticate": "Bearer" },
      );
    }
    const type = request.headers.get("content-type") ?? "";
    if (!/^application\/json *(;|$)/i.test(type.trim())) {
      return badRequest("Content-Type must be application/json");
    }
    let result: RevalidateResult;
    try {
      const body = await readBodyJSON(request, MAX_BODY);
      result = await revalidate(body as RevalidateOptions);
    } catch (error) {
      return refuse(error as Partial<BodyError> & Error);
    }
    if (result.success) return Response.json(result);
    // `onError` was called with the cause; the sender can try again.
    return errorResponse(
      503,
      "REVALIDATION_FAILED",
      "The cache's store can't be reached; retry later",
      { "retry-after": "2" },
    );
  };
}

/** The only package of the module. Most processes never need it. */
const loadComparison = () =>
  runOutside(() => import("@std/crypto/timing-safe-equal"));

type Gate = (request: Request) => boolean | Promise<boolean>;

function createGate(given: readonly [secret?: string | undefined]): Gate {
  if (given.length === 0) {
    console.warn(
      "createRevalidationHandler() has no secret: anyone who can reach its route can empty the cache",
    );
    return () => true;
  }
  const secret = given[0]!;
  checkValue(secret, "secret", aSecret, "create revalidation handler");
  // Computed at the first request.
  let expected: Promise<ArrayBuffer> | undefined;
  return async ({ headers }) => {
    // RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, 11.1).
    const bearer = /^bearer +(.*)$/is.exec(headers.get("authorization") ?? "");
    // A header holds one byte per character (Fetch, "isomorphic decode").
    const bytes = Uint8Array.from(bearer?.[1] ?? "", (c) => c.charCodeAt(0));
    const { timingSafeEqual } = await loadComparison();
    // Digests have equal lengths, and clients can't choose how they begin.
    return timingSafeEqual(
      await digest(bytes),
      await (expected ??= digest(new TextEncoder().encode(secret))),
    );
  };
}

const aSecret: Rule = {
  ...aNonEmptyString,
  // Never shows the value.
  describe: (secret) =>
    secret === undefined
      ? "undefined; set the environment variable that it comes from, or leave the argument out to let everyone call the route"
      : secret === ""
      ? '""'
      : kindOf(secret),
};

function digest(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", bytes);
}

/** Returns the response for a body that can't be read, or isn't options. */
function refuse(error: Partial<BodyError> & Error): Response {
  const { problem, message } = error;
  if (problem === "TOO_LARGE") {
    return errorResponse(413, "PAYLOAD_TOO_LARGE", message);
  }
  if (problem === undefined && !(error instanceof TypeError)) throw error;
  return badRequest(message);
}

function badRequest(message: string): Response {
  return errorResponse(400, "BAD_REQUEST", message);
}
