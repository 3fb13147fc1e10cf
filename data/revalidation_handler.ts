import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { errorResponse } from "../core/error_response.ts";
import { isResponse } from "../core/http/is_response.ts";
import { type BodyError, readBodyText } from "../core/http/read_body.ts";
import { show } from "../core/check/show.ts";
import {
  readInvalidation,
  type RevalidateOptions,
  type RevalidateResult,
} from "./revalidation.ts";

/** The largest body that is read, in bytes. */
const MAX_BODY = 64 * 1024;

/** Makes the handler. See `createRevalidationHandler`. */
export function createHandler(
  revalidate: (options: RevalidateOptions) => Promise<RevalidateResult>,
  secret: string | undefined,
): (request: Request) => Promise<Response> {
  const isAllowed = createGate(secret);

  return async function handleRevalidation(request) {
    if (request.method !== "POST") {
      return errorResponse(
        405,
        "METHOD_NOT_ALLOWED",
        "Revalidation takes POST",
        { allow: "POST" },
      );
    }
    if (!await isAllowed(request)) {
      return errorResponse(
        401,
        "UNAUTHORIZED",
        "The Authorization header must be Bearer and the secret",
        { "www-authenticate": "Bearer" },
      );
    }
    const options = await readOptions(request);
    if (isResponse(options)) return options;
    const result = await revalidate(options);
    if (result.success) return Response.json(result);
    // The store has told `onError` what it is; the sender can try again.
    return errorResponse(
      503,
      "REVALIDATION_FAILED",
      "Not every server could be told; send this again",
    );
  };
}

type Gate = (request: Request) => boolean | Promise<boolean>;

function createGate(secret: string | undefined): Gate {
  if (secret === undefined) {
    console.warn(
      "createRevalidationHandler() has no secret: whoever reaches its route can empty the cache",
    );
    return () => true;
  }
  if (typeof secret !== "string" || secret === "") {
    throw new TypeError(
      `Cannot create revalidation handler: secret must be a non-empty string, received ${
        typeof secret === "string" ? '""' : show(secret)
      }`,
    );
  }
  // When first asked for: nothing is under way before.
  let expected: Promise<ArrayBuffer> | undefined;
  return async (request) => {
    const header = request.headers.get("authorization") ?? "";
    // RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, 11.1).
    const scheme = /^bearer +/i.exec(header)?.[0];
    const given = scheme === undefined ? "" : header.slice(scheme.length);
    // Digests are of one length, and nobody can choose how they begin.
    return timingSafeEqual(
      await digest(bytesOfHeader(given)),
      await (expected ??= digest(encoder.encode(secret))),
    );
  };
}

const encoder = new TextEncoder();

/** A header holds one byte a character (Fetch, "isomorphic decode"). */
function bytesOfHeader(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function digest(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", bytes);
}

/** What the body asks for, or the response that refuses it. */
async function readOptions(
  request: Request,
): Promise<RevalidateOptions | Response> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json *(;|$)/i.test(type.trim())) {
    return refuse("Content-Type must be application/json");
  }
  let text: string;
  try {
    text = await readBodyText(request, MAX_BODY);
  } catch (error) {
    const { problem, message } = error as BodyError;
    return problem === "TOO_LARGE"
      ? errorResponse(413, "PAYLOAD_TOO_LARGE", message)
      : refuse(message);
  }
  let options: unknown;
  try {
    options = JSON.parse(text);
  } catch {
    return refuse("The body must be JSON");
  }
  try {
    readInvalidation(options as RevalidateOptions);
    return options as RevalidateOptions;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(message: string): Response {
  return errorResponse(400, "BAD_REQUEST", message);
}
