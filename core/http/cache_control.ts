/**
 * Parses `Cache-Control`, and decides which caches may store a response
 * (RFC 9111).
 *
 * @module
 */

import { editHeaders } from "./message.ts";

/** Parses the directives of a `Cache-Control` header (RFC 9111, section 5.2). */
export function readCacheControl(
  header: string | null,
): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  if (header === null) return directives;
  for (
    const [, name, quoted, plain] of header.matchAll(
      /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;]*)))?/g,
    )
  ) directives.set(name!.toLowerCase(), quoted ?? plain ?? "");
  return directives;
}

/** nginx's header: seconds, where 0 forbids to store it. */
const NGINX = "x-accel-expires";

/** More directives that forbid a product's caches to store a response. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  "edge-control": /\bbypass-cache\b/i,
  "x-litespeed-cache-control": /\bno-cache\b/i,
};

/** Headers that control shared caches in place of `Cache-Control`. */
const FOR_SHARED_CACHES =
  /^(surrogate-control|edge-control|x-accel-expires|x-litespeed-cache-control)$|(^|-)cdn-cache-control$/;

/**
 * Returns the names of the headers that let shared caches store a response,
 * whatever its `Cache-Control` says.
 */
export function sharedCacheHeaders(headers: Headers): string[] {
  const names: string[] = [];
  // Takes a tenth of iterating over the names, which is 4 µs per response.
  headers.forEach((value, name) => {
    if (!FOR_SHARED_CACHES.test(name)) return;
    // A cache may ignore `Cache-Control`, so what forbids it to store must stay.
    if (!isTargetedPrivate(value, name)) names.push(name);
  });
  return names;
}

/**
 * Whether shared caches may not store it (RFC 9111, sections 5.2.2.5 and 7). In
 * `Edge-Control`, `!no-store` is the opposite of `no-store`.
 */
export function isPrivate(control: string): boolean {
  return /(?<!!)\b(private|no-store)\b(?!\s*=)/i.test(control);
}

/** Whether a header for shared caches forbids them to store the response. */
function isTargetedPrivate(value: string, name: string): boolean {
  if (name === NGINX) return /^0+$/.test(value);
  return isPrivate(value) || REFUSALS[name]?.test(value) === true;
}

/** The headers of a response that decide how it's passed on. */
export interface ResponseFacts {
  /** The `Content-Type`. */
  readonly type: string | null;
  /** Whether shared caches may serve it to other users. */
  readonly isShared: boolean;
  /** Whether it has a certain header. */
  readonly isMarked: boolean;
}

/**
 * Reads the headers of a response in one walk, which costs half as much as
 * looking for each of them.
 *
 * @param mark The header to look for, in lower case.
 */
export function readResponse(headers: Headers, mark?: string): ResponseFacts {
  let type: string | null = null;
  let control: string | null = null;
  let isStored = false;
  let isTargeted = false;
  let isMarked = false;
  headers.forEach((value, name) => {
    if (name === "content-type") type = value;
    else if (name === "cache-control") control = value;
    else if (name === mark) isMarked = true;
    else if (name === "expires") isStored = true;
    else if (FOR_SHARED_CACHES.test(name)) {
      isTargeted ||= !isTargetedPrivate(value, name);
    }
  });
  // CDNs prefer their own headers to `Cache-Control` (RFC 9213).
  const isShared = isTargeted ||
    (control === null ? isStored : allowsSharing(control));
  return { type, isShared, isMarked };
}

function allowsSharing(control: string): boolean {
  return !isPrivate(control) && /\b(public|s-maxage|max-age)\b/i.test(control);
}

/**
 * Marks a response as `private`, for CDNs too, unless its own `Cache-Control`
 * lets caches store it or caches don't store its method (RFC 9110, section 9.2.3).
 *
 * @param given The `Cache-Control` that a page cache added. It doesn't count as the
 * response's own, because an outer middleware may have changed the page.
 */
export function keepPrivate(
  response: Response,
  { method }: Request,
  given?: string,
): Response {
  if (method !== "GET" && method !== "HEAD") return response;
  const { headers, status } = response;
  const stated = headers.get("cache-control");
  const isStated = stated !== null && stated !== given;
  const isShared = isStated && !isPrivate(stated);
  // A used body can't be copied below, nor be sent.
  if (status === 101 || isShared || response.bodyUsed) return response;
  // Each header makes the walk slower, so it comes before `set()`.
  const names = sharedCacheHeaders(headers);
  if (isStated && names.length === 0) return response;
  return editHeaders(response, (headers) => {
    if (!isStated) headers.set("cache-control", "private");
    for (const name of names) headers.delete(name);
  });
}
