import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { mutated, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const path = mutated(
  fc.constantFrom("/", "/a", "/a/", "/a?b=c", "/a?b=c&d", "/a%2fb", "/none"),
);

/** Placeholder for the page's entity tag, which isn't known yet. */
const TAG = "TAG";

const headers = fc.record({
  "accept-language": fc.constantFrom("de", "en", "de, en", "", "\u00e9"),
  "accept-encoding": fc.constantFrom("gzip", ""),
  "if-none-match": mutated(
    fc.constantFrom(TAG, `W/${TAG}`, `"x", ${TAG}`, '"x"', "*", "", ","),
  ),
  "cache-control": mutated(
    fc.constantFrom("no-cache", "no-store", "max-age=0", "max-age=x", ""),
  ),
  range: fc.constantFrom("bytes=0-1", "bytes=", ""),
  pragma: piece,
}, { requiredKeys: [] });

const input = fc.array(
  fc.record({
    path,
    headers,
    method: fc.constantFrom("GET", "GET", "GET", "GET", "HEAD", "POST"),
  }),
  { minLength: 1, maxLength: 5 },
);

export const pageCache = defineTarget(
  "page-cache",
  "after any requests, a cached page equals the page that would be computed",
  input,
  () => {
    const cache = createCache({ maxEntries: 50 });
    const app = createApp()
      .use(cache.cacheResponse({ maxAge: 60, vary: ["accept-language"] }))
      .route({
        path: "/**",
        method: "*",
        handler: (request: Request) =>
          new Response(pageFor(request), {
            status: request.url.includes("none") ? 404 : 200,
          }),
      });
    return {
      async check(requests) {
        await cache.revalidate({ all: true });
        const ways = new Set<string>();
        let etag = '"none"';
        for (const { path, headers, method } of requests) {
          const request = requestOf(path, {
            method,
            headers: Object.fromEntries(
              Object.entries(headers).map(([name, value]) =>
                [name, asHeader(value.replaceAll(TAG, etag))] as const
              ),
            ),
          });
          if (request === undefined) continue;
          const { status, headers: given, ...response } = await readAnswer(
            await app.fetch(request),
          );
          ways.add(`${status}`);
          if (status === 304) {
            const tags = request.headers.get("if-none-match")!;
            const own = given.get("etag")!;
            assert(tags.includes(own) || tags.includes("*"), tags);
            continue;
          }
          if (status === 400) continue;
          assertEquals(status, request.url.includes("none") ? 404 : 200);
          // A stored page answers a URL with a fragment too, but knows none.
          const url = request.url.split("#")[0]!;
          const isStored = url !== request.url &&
            response.text ===
              pageFor({ method, url, headers: request.headers });
          // A real server removes the body of a HEAD response.
          if (method !== "HEAD" && !isStored) {
            assertEquals(response.text, pageFor(request));
          }
          etag = given.get("etag") ?? etag;
        }
        return [...ways].sort().join(" and ") || "not sent";
      },
      [Symbol.asyncDispose]: () => app.close(),
    };
  },
);

async function readAnswer(response: Response) {
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

/** Returns a page that contains everything it depends on. */
function pageFor(
  { method, url, headers }: Pick<Request, "method" | "url" | "headers">,
): string {
  return [method, url, headers.get("accept-language")].join(" ");
}
