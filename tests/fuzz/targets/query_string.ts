import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import { mutated } from "../input/mutate.ts";
import { ORIGIN } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const part = fc.constantFrom(
  ..."path=|input=|path|input|PATH=|p%61th=|path=echo|input=1|&|&&|=|%|%2|%22a+b%22"
    .split("|"),
  ..."%C3%A9|%C3%|%EF%BB%BF|%F0%9F%98|+|%2B|#|?|é|\ufeff|null|[1]|%00|%26|%3D"
    .split("|"),
);

const query = mutated(
  fc.tuple(
    fc.constantFrom("path=echo&", "path=echo&input=%22", "input=1&", ""),
    fc.array(part, { maxLength: 8 }),
  ).map(([start, parts]) => start + parts.join("")),
);

export const queryString = defineTarget(
  "query-string",
  "a call's query string is read as URLSearchParams reads it",
  query,
  () => {
    const router = createRouter({
      echo: procedure.query(z.unknown(), ({ input }) => ({ input })),
    });
    return {
      async check(query) {
        const url = `${ORIGIN}/?${query}`;
        const response = await router.handler(new Request(url));
        const { data, error } = await response.json();
        const found = error?.code ?? data;
        assertEquals(found, expectedOf(url));
        return typeof found === "string" ? found : "ok";
      },
    };
  },
);

/** Returns the URLSearchParams result as an answer of the router. */
function expectedOf(url: string): unknown {
  const { searchParams } = new URL(url);
  const path = searchParams.get("path");
  if (path === null) return "PARSE_ERROR";
  if (path !== "echo") return "NOT_FOUND";
  const input = searchParams.get("input");
  if (input === null) return {};
  try {
    return { input: JSON.parse(input) };
  } catch {
    return "PARSE_ERROR";
  }
}
