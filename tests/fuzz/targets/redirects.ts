import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { safeRedirect } from "@quartet/kit/auth";
import { anyJSON } from "../input/json.ts";
import { mutated } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";

const ORIGIN = "https://here.example";

const start = fc.constantFrom("/", "/", "/", "", "//", "/\\", "https://");

const wanted = mutated(
  fc.tuple(
    start,
    fc.array(
      fc.oneof(
        fc.constantFrom(
          "a",
          "?b=c",
          "/",
          "//",
          "\\",
          "evil.example",
          "https:",
          "http:",
          "javascript:",
          "@",
          "..",
          "/.",
          "%2e",
          "%2f",
          "%5c",
          "%09",
          "\t",
          "\n",
          ":",
          "?",
          "#",
          "here.example",
          "countries",
        ),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 6 },
    ),
  ).map(([start, parts]) => start + parts.join("")),
);

export const redirects = defineTarget(
  "redirects",
  "a redirect requested by a visitor stays on this server",
  fc.oneof({ arbitrary: wanted, weight: 8 }, { arbitrary: anyJSON, weight: 1 }),
  () => ({
    check(wanted) {
      const location = safeRedirect(wanted, "/home");
      const url = new URL(location, `${ORIGIN}/sign-in/callback`);
      assertEquals(url.origin, ORIGIN);
      // Also for a reader of the path alone, or behind a proxy that normalizes
      // it.
      assertEquals(new URL(url.pathname + url.search, ORIGIN).origin, ORIGIN);
      assertEquals(new URL(url.pathname, ORIGIN).origin, ORIGIN);
      // The value survives as a header.
      assertEquals(new Headers({ location }).get("location"), location);
      return location === wanted ? "as wanted" : "home";
    },
  }),
);
