import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createApp } from "@quartet/kit/app";
import { mutated, piece } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";
import { pathOf } from "../../../core/http/message.ts";

const segment = fc.oneof(
  { arbitrary: fc.constantFrom("items", "files", "1", "a b"), weight: 4 },
  {
    arbitrary: fc.constantFrom(
      ".",
      "..",
      "%2e",
      "%2E%2e",
      "%2f",
      "%5c",
      "%00",
      "%",
      "%e9",
      "%zz",
      ":id",
      "*",
      "**",
      "__proto__",
      "constructor",
      "",
    ),
    weight: 2,
  },
  { arbitrary: piece, weight: 1 },
);

const url = mutated(
  fc.tuple(
    fc.constantFrom(
      "http://localhost",
      "http://localhost:80",
      "http://[::1]:8000",
      "http://a.b?c",
    ),
    fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`),
    fc.constantFrom("", "?q=1", "#f", "?", "?/items/2#/x"),
  ).map((parts) => parts.join("")),
);

const ROUTES = ["/items/:id", "/files/**", "/items", "/a/:b/c", "/:one/:two"];

export const paths = defineTarget(
  "paths",
  "each URL has the path that a URL parser returns, and routes see the same one",
  url,
  () => {
    const app = createApp({
      routes: ROUTES.map((path) => ({
        path,
        handler: (_request: Request, { params, url }) =>
          Response.json({ path, params, pathname: url.pathname }),
      })),
      onError(error) {
        throw error;
      },
    });
    return {
      async check(url) {
        const parsed = URL.parse(url);
        if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
          return "not sent";
        }
        assertEquals(pathOf(parsed.href), parsed.pathname);
        // A server passes on URLs as they were sent.
        if (/^http:\/\/[a-z.:[\]0-9]+[/?#]/.test(url) && isSendable(url)) {
          assertEquals(pathOf(url), parsed.pathname);
        }
        const response = await app.fetch(new Request(parsed));
        const answer = await response.json();
        assert([200, 400, 404].includes(response.status), `${response.status}`);
        if (response.status !== 200) return `${response.status}`;
        const { path, params, pathname } = answer;
        assertEquals(pathname, parsed.pathname);
        const parts = pathname.split("/");
        for (const [i, name] of path.split("/").entries()) {
          if (name === "**") break;
          if (name.startsWith(":")) {
            assertEquals(params[name.slice(1)], decodeURIComponent(parts[i]));
          } else assertEquals(decodeURIComponent(parts[i]), name);
        }
        return path;
      },
      [Symbol.asyncDispose]: () => app.close(),
    };
  },
);

/** Whether a request line may contain it: only ASCII without white space. */
function isSendable(url: string): boolean {
  return /^[\x21-\x7e]+$/.test(url);
}
