import type { RequestContext } from "../core/context.ts";
import { keepPrivate, readCacheControl } from "../core/http/cache_control.ts";
import { checkOptions, type OptionRules } from "../core/check/options.ts";
import { aDuration, required } from "../core/check/rules.ts";
import {
  hasHeader,
  isResponse,
  pathOf,
  thrownResponse,
} from "../core/http/message.ts";
import {
  claimedCookies,
  isIdle,
  isPersonal,
  joinNames,
} from "../core/personal.ts";
import { WatchScope } from "../core/request_scope.ts";
import type { Middleware } from "../core/middleware.ts";
import type { CacheAccess } from "./cached_function.ts";
import { noteBypass } from "./cache_observer.ts";
import {
  aCookieName,
  cookieNames,
  cookieObstacle,
  matchCookies,
} from "./cookie_rule.ts";
import { CacheError } from "./error.ts";
import {
  aPeriod,
  checkLifetimeName,
  checkStrings,
  toPolicy,
} from "./options.ts";
import {
  discard,
  keyOfPage,
  lifetimeOf,
  mayBeStale,
  obstacleOf,
  type Page,
  readPage,
  respond,
  whyNotShared,
} from "./page.ts";
import { normalizePath } from "./paths.ts";

/** Settings of a response cache. All times are in seconds. */
export interface CacheResponseOptions {
  /**
   * How long a page is fresh, here and for browsers and proxies. The page's own
   * `Cache-Control` overrides it. 0: it isn't cached.
   */
  readonly maxAge: number;
  /** Tags to invalidate the pages by, besides their paths. Default: none. */
  readonly tags?: readonly string[];
  /**
   * The request headers that pages depend on, such as `accept-language`. They
   * become part of `Vary`. A response that varies by others isn't cached. Default:
   * none.
   */
  readonly vary?: readonly string[];
  /**
   * Names of cookies that no page depends on, such as `_ga` of an analytics
   * service. A trailing `*` matches any ending. A request with any other cookie
   * is answered separately, and its response isn't cached. Leave out the cookies
   * of the kit's auth, which notes whether a page asked for the user. Default:
   * none.
   */
  readonly ignoreCookies?: readonly string[];
  /**
   * How long an expired page is still served while a new one is made. Under
   * `toHono()` and `toMiddleware()`, the request that starts this waits for the
   * new page. In an app and under `withPlugins()`, no request does. Default: 0.
   */
  readonly staleWhileRevalidate?: number;
  /**
   * How long an expired page is still served if making a new one fails. Default:
   * 0.
   */
  readonly staleIfError?: number;
  /**
   * How long browsers and proxies may keep a page. They don't hear of
   * invalidations. 0: they revalidate each time, usually with a 304. Default:
   * `maxAge`.
   */
  readonly clientMaxAge?: number;
}

const someSeconds = aDuration("seconds", { zero: true });

const CACHE_RESPONSE: OptionRules<CacheResponseOptions> = {
  maxAge: required(someSeconds),
  tags: true,
  vary: true,
  ignoreCookies: true,
  staleWhileRevalidate: aPeriod,
  staleIfError: aPeriod,
  clientMaxAge: someSeconds,
};

/** Maximum of `max-age`, in seconds (RFC 9111, section 1.2.2). */
const MAX_AGE = 2 ** 31;

/** Thrown for an error page, so that a stale page may be served instead. */
class FailedPage extends Error {}

/** See `cacheResponse()`. */
export function createResponseCache(
  access: () => CacheAccess,
  options: CacheResponseOptions,
): Middleware<RequestContext> {
  const operation = "create response cache";
  checkLifetimeName(options, "maxAge", operation);
  checkOptions(options, CACHE_RESPONSE, operation);
  const { maxAge, clientMaxAge, ignoreCookies = [] } = options;
  const policy = toPolicy(options, maxAge, operation);
  const { vary: given = [] } = options;
  checkStrings(given, "vary", operation);
  const vary = given.map((name) => name.toLowerCase()).sort();
  checkStrings(ignoreCookies, "ignoreCookies", operation, aCookieName);
  const ignores = matchCookies([...ignoreCookies]);
  const cacheControlAt = (age: number) => {
    // Clients subtract the page's age.
    const seconds = clientMaxAge ? clientMaxAge + age : clientMaxAge ?? maxAge;
    return seconds > 0
      ? `public, max-age=${Math.min(Math.floor(seconds), MAX_AGE)}`
      : "public, no-cache";
  };

  /** Cookies that auth has claimed. Unknown before the first page. */
  let claimed: readonly string[] | undefined;
  const learn = (names: readonly string[]) => {
    claimed = joinNames(claimed ?? [], names);
  };

  return async function cacheResponse(request, context, next) {
    const { method, headers } = request;
    if (method !== "GET" && method !== "HEAD") return await passUnsafe();
    const { engine, now } = access();
    const key = keyOfPage(request, vary);
    // Also if this response isn't stored, or is stored by a cache around this one.
    engine.depend({ scopeKey: key, policy });
    const around = claimedCookies();
    if (around.length > 0) learn(around);
    const cookies = cookieNames(headers.get("cookie"), ignores);
    const control = readCacheControl(headers.get("cache-control"));
    const bypass = control.has("no-store")
      ? "the request has Cache-Control: no-store"
      : hasHeader(headers, "range")
      ? "the request asks for a range"
      : isPersonal(context)
      ? "code before the cache asked for the user"
      : undefined;
    if (bypass !== undefined) {
      noteBypass(bypass);
      return seal(await next());
    }
    // Auth hasn't claimed its cookies yet, or doesn't read this one.
    const cookie = claimed && cookieObstacle(cookies, claimed);
    if (cookie !== undefined) return await answerSeparately(cookie);
    // If a cache is mounted around itself, the outer one stores the page.
    if (engine.isComputing(key)) return await next();
    if (cookies.length > 0 || hasHeader(headers, "authorization")) {
      const kept = engine.find(key) as Page | undefined;
      const why = kept && whyNotShared(request, kept, cookies);
      if (why !== undefined) return await answerSeparately(why);
    }
    const give = (page: Page) => respond(request, page, now(), cacheControlAt);
    // HEAD answers like GET, but computes no page to keep. Nor does a URL with a
    // fragment: the handler sees it, but the key doesn't have it.
    if (method === "HEAD" || request.url.includes("#")) {
      const page = await engine.peek(key) as Page | undefined;
      if (page !== undefined && isShareable(page)) return give(page);
      const asked = method === "HEAD" ? method : "a URL with a fragment";
      noteBypass(`${asked} only gets pages that are stored`);
      return seal(await next());
    }
    // A response that isn't stored belongs to this request only. Other requests
    // may wait for the page even after this one got a stale page.
    let own: Response | undefined;
    let made: Promise<Page | undefined> | undefined;
    let isAnswered = false;
    let obstacle: string | undefined;
    const ask = async () =>
      await engine.call({
        key,
        scopeKey: key,
        policy,
        compute: () => made = makePage(),
        mayAsk: true,
        lifetime: (page) => (page as Page | undefined)?.maxAge ?? 0,
        mayBeStale,
        obstacle: () => obstacle ?? "its lifetime is 0",
      }).catch((error) => {
        // Another request's failure doesn't fail this one.
        const isOwn = made !== undefined || error instanceof CacheError;
        if (isOwn && !(error instanceof FailedPage)) throw error;
        // On Node, @hono/node-server aborts with a string.
        const isAborted = Object(error).name === "AbortError";
        return isAborted || typeof error === "string" ? null : undefined;
      }) as Page | null | undefined;
    let page = await ask();
    // All who waited for an aborted request then wait for one of them.
    if (page === null && made === undefined) page = await ask();
    if (page && isShareable(page)) {
      isAnswered = true;
      discard(own);
      return give(page);
    }
    // It got a stale page that it can't use: its own failed, or isn't ready yet.
    if (own === undefined) await made;
    // A request that waited for another one's page makes its own.
    return seal(own ?? await next());

    /** Answers the request separately, because the page may depend on it. */
    async function answerSeparately(why: string): Promise<Response> {
      noteBypass(why);
      const scope = new WatchScope();
      try {
        return keepPrivate(await scope.run(next), request);
      } finally {
        learn(scope.ownCookies);
        scope.end();
      }
    }

    function isShareable(page: Page): boolean {
      return whyNotShared(request, page, cookies) === undefined;
    }

    /** Marks a page that may depend on a cookie as private, for other caches. */
    function seal(response: Response): Response {
      return cookieObstacle(cookies, claimed ?? []) === undefined
        ? response
        : keepPrivate(response, request);
    }

    /** Makes the page, and notes whether it asks for the user. */
    async function makePage(): Promise<Page | undefined> {
      const response = await next().catch(thrownResponse);
      learn(claimedCookies());
      obstacle = obstacleOf(request, response, vary) ?? userObstacle();
      if (obstacle !== undefined) {
        pass(response);
        // A stale page may be served instead (RFC 5861, section 4).
        const { status } = response;
        if (status >= 500) {
          throw new FailedPage(`The page has status ${status}`);
        }
        return undefined;
      }
      const ms = lifetimeOf(response, maxAge);
      const page = await readPage(response, now(), ms, vary);
      if (isResponse(page)) {
        obstacle = "the response is too large";
        return pass(page);
      }
      // Code that writes the body may ask for the user late.
      obstacle = userObstacle();
      if (obstacle !== undefined) return pass(new Response(page.body, page));
      // Waiting callers must not get a page without a lifetime either.
      return page.maxAge > 0 ? page : pass(give(page));
    }

    /** Returns why the page may depend on the user, or `undefined` if it can't. */
    function userObstacle(): string | undefined {
      return isPersonal(context)
        ? "the page asked for the user"
        : cookieObstacle(cookies, claimedCookies());
    }

    /** Keeps a response for this request, or discards it. */
    function pass(response: Response): undefined {
      if (isAnswered) discard(response);
      else own = response;
    }

    /**
     * Passes a request that may change the page, and invalidates the page if it
     * succeeds (RFC 9111, section 4.4). A request that a guard refuses, even by a
     * redirect, changes nothing. Neither do calls of RPC without a mutation.
     */
    async function passUnsafe(): Promise<Response> {
      const scope = new WatchScope();
      const response = await scope.run(next).catch(thrownResponse);
      scope.end();
      const isDone = response.status < 400 && !isIdle(scope, response);
      if (isDone && !/^(?:OPTIONS|TRACE)$/.test(method)) {
        const path = normalizePath(pathOf(request.url));
        await access().invalidate({ paths: [path] });
      }
      return response;
    }
  };
}
