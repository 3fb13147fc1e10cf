import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { assertEquals } from "@std/assert";
import { createCache } from "@quartet/kit/data";
import { almost, anyTerm, build, hasReference } from "../input/term.ts";
import type { Term } from "../input/term.ts";
import { defineTarget } from "../target.ts";

const list = fc.array(anyTerm, { maxLength: 3 });

const input = fc.record({
  keyParts: fc.array(fc.constantFrom("", "a", "b", '"', ","), { maxLength: 2 }),
  first: list,
  // Any other list, or one similar to the first.
  second: fc.oneof(list, fc.nat(5)),
});

export const argumentKeys = defineTarget(
  "arguments",
  "calls of a cached function share a value only if their arguments are equal",
  input,
  () => {
    const cache = createCache({ maxEntries: 10 });
    return {
      async check({ keyParts, first, second }) {
        let calls = 0;
        const fn = cache.unstable_cache(
          // deno-lint-ignore no-explicit-any -- called with anything
          (..._: any[]) => Promise.resolve(++calls),
          keyParts,
        );
        const others = typeof second === "number"
          ? rearrange(first, second)
          : second;
        const a = first.map((term) => build(term));
        await cache.revalidate({ all: true });
        await fn(...a);
        // The same arguments, with unordered parts reversed.
        await fn(...first.map((term) => build(term, true)));
        assertEquals(calls, 1, "equal arguments meet");

        const b = others.map((term) => build(term));
        await fn(...b);
        // Equality of circular values isn't defined.
        if ([...first, ...others].some(hasReference)) return "circular";
        let isEqual: boolean;
        try {
          isEqual = isDeepStrictEqual(a, b);
        } catch {
          // In Deno 2.9.6 it throws for some maps inside of sets.
          return "not comparable";
        }
        assertEquals(calls, isEqual ? 1 : 2, "only equal arguments meet");
        return isEqual ? "equal" : "unlike";
      },
    };
  },
);

/**
 * Returns a similar list, which a careless key would confuse with the first.
 */
function rearrange(terms: readonly Term[], how: number): readonly Term[] {
  const [first, ...rest] = terms;
  switch (how) {
    case 0:
      return [{ kind: "array", items: [...terms] }];
    case 1:
      return first === undefined
        ? []
        : [{ kind: "array", items: [first] }, ...rest];
    case 2:
      return [{ kind: "set", items: [...terms] }];
    case 3:
      return terms.toReversed();
    case 4:
      return terms.map(almost);
    default:
      return [...terms, { kind: "leaf", value: undefined }];
  }
}
