import type { RequestContext } from "../app/context.ts";
import type { Middleware } from "../app/middleware.ts";
import { pathOf } from "../app/path.ts";
import type { CacheAccess } from "./cached_function.ts";
import { checkStrings } from "./check.ts";
import { readPolicy } from "./options.ts";
import type { Policy } from "./options.ts";
import { lifetimeOf, readCacheControl, readPage, respond } from "./page.ts";
import type { Page } from "./page.ts";
import { normalizePath } from "./paths.ts";

/** Settings of a response cache. All times are in seconds. */
export interface CacheResponseOptions {
  /**
   * How long a page is fresh, here and for browsers and proxies, unless its
   * own `Cache-Control` says otherwise.
   */
  readonly maxAge: number;
  /** Tags to invalidate the pages by, beside their paths. Default: none. */
  readonly tags?: readonly string[];
  /**
   * The request headers that pages depend on, such as `accept-language`. They
   * become part of `Vary`. A response that varies by others is not kept.
   */
  readonly vary?: readonly string[];
  /**
   * How long after it has expired a page may still be given while a new one is
   * made. Default 0.
   */
  readonly staleWhileRevalidate?: number;
  /**
   * How long after it has expired a page may still be given if no new one can
   * be made. Default 0.
   */
  readonly staleIfError?: number;
  /**
   * How long browsers and proxies may keep a page, who don't hear of an
   * invalidation. 0: they ask each time, and are told if nothing has changed.
   * Default: `maxAge`.
   */
  readonly clientMaxAge?: number;
}

/** A response of which nothing may be kept: for the one who asked for it. */
class Unkept {
  response: Response | undefined;

  constructor(response: Response) {
    this.response = response;
  }
}

/** What stands for an error, so that an old page may be given instead. */
class FailedPage extends Error {
  readonly page: Unkept;

  constructor(response: Response) {
    super(`The page has status ${response.status}`);
    this.page = new Unkept(response);
  }
}

/** Makes the middleware. See `cacheResponse`. */
export function createResponseCache(
  access: () => CacheAccess,
  options: CacheResponseOptions,
): Middleware<RequestContext> {
  const doing = "create response cache";
  const policy = readPolicy(options, ["maxAge", options?.maxAge], doing);
  const { maxAge, clientMaxAge = maxAge } = options;
  readPolicy({}, ["clientMaxAge", clientMaxAge], doing);
  const { vary: given = [] } = options;
  checkStrings(given, "vary", doing);
  const vary = given.map((name) => name.toLowerCase()).sort();
  const cacheControl = clientMaxAge > 0
    ? `public, max-age=${Math.floor(clientMaxAge)}`
    : "public, no-cache";

  return async function cacheResponse(request, _context, next) {
    const { method, headers } = request;
    if (method !== "GET" && method !== "HEAD") return await passUnsafe();
    const control = readCacheControl(headers.get("cache-control"));
    if (control.has("no-store") || headers.has("range")) return await next();
    const { engine, now } = access();
    const key = keyOf(request, vary);
    if (method === "HEAD") {
      // What it says is what GET would say, but it makes no page to keep.
      const page = engine.peek(key) as Page | undefined;
      return page === undefined
        ? await next()
        : respond(request, page, now(), cacheControl);
    }
    const call = { key, scopeKey: key, policy, compute: makePage, lifetime };
    const page = await engine.call(call).catch(unwrap) as Page | Unkept;
    if (!(page instanceof Unkept)) {
      return respond(request, page, now(), cacheControl);
    }
    // Whoever waited for another one's request has to make one of its own.
    const { response = await next() } = page;
    page.response = undefined;
    return response;

    async function makePage(): Promise<Page | Unkept> {
      const response = await next();
      const lifetime = lifetimeOf(request, response, maxAge, vary);
      // A failure, for which an old page may be given (RFC 5861, section 4).
      if (response.status >= 500) throw new FailedPage(response);
      if (lifetime === undefined) return new Unkept(response);
      const page = await readPage(response, now(), vary);
      if (page instanceof Response) return new Unkept(page);
      lifetimes.set(page, lifetime * 1_000);
      return page;
    }

    /** RFC 9111, section 4.4: what changes a page makes the kept one invalid. */
    async function passUnsafe(): Promise<Response> {
      const response = await next();
      if (!/^(?:OPTIONS|TRACE)$/.test(method) && response.status < 400) {
        const path = normalizePath(pathOf(request.url));
        await access().invalidate({ paths: [path] });
      }
      return response;
    }
  };
}

function unwrap(error: unknown): Unkept {
  if (error instanceof FailedPage) return error.page;
  throw error;
}

/** How long each new page is fresh, in milliseconds. */
const lifetimes = new WeakMap<Page, number>();

function lifetime(value: unknown, policy: Policy): number {
  return value instanceof Unkept
    ? 0
    : lifetimes.get(value as Page) ?? policy.maxAge;
}

/** Begins with `{`, which keys of functions don't. */
function keyOf(request: Request, vary: readonly string[]): string {
  const { url } = request;
  const fragment = url.indexOf("#");
  return JSON.stringify({
    url: fragment === -1 ? url : url.slice(0, fragment),
    vary: vary.map((name) => request.headers.get(name)),
  });
}
