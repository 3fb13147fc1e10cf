import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { mutated } from "../input/mutate.ts";
import { requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const segment = fc.oneof(
  fc.constantFrom("posts", "1", "a b", "a%20b", "caf\u00e9", "caf%C3%A9"),
  fc.constantFrom("%70osts", "..", ".", "%2e%2E", "", "*", "%2f", "%%34%31"),
  fc.constantFrom("\\", "\t", " ", "%", "+", "~", "%7e", "\u{1f4a5}", ";", "@"),
);

const path = fc.tuple(
  fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`),
  fc.constantFrom("", "", "/", "?q=1", "?", "#x", "//"),
).map((parts) => parts.join(""));

const anyPath = mutated(path)
  .map((path) => path.startsWith("/") ? path : `/${path}`);

const input = fc.record({
  path: anyPath,
  how: fc.constantFrom("as sent", "as parsed", "below its parent", "another"),
  other: anyPath,
});

export const pathScopes = defineTarget(
  "path-scopes",
  "values cached for a path are invalidated with that path in any spelling, and with no other",
  input,
  () => {
    const cache = createCache({ maxEntries: 100 });
    let key = "";
    let made = 0;
    const app = createApp().route({
      path: "/**",
      handler: async () =>
        Response.json(
          await cache.cached(key, () => Promise.resolve(++made), {
            maxAge: 60,
          }),
        ),
    });
    const valueAt = async (request: Request) => {
      const response = await app.fetch(request.clone());
      return response.ok ? await response.json() : void await response.text();
    };
    return {
      async check({ path, how, other }) {
        const request = requestOf(`http://localhost${path}`);
        if (request === undefined) return "not sent";
        const { pathname, search } = new URL(request.url);
        key = `${made}`;
        const before = await valueAt(request);
        if (before === undefined) return "no such page";
        assertEquals(await valueAt(request), before, "it is kept");

        const scope = {
          "as sent": path,
          "as parsed": pathname + search,
          "below its parent": `${pathname.replace(/(?<=\/)[^/]*\/*$/, "")}*`,
          "another": other,
        }[how];
        if (/\*[/?#]|\*$/.test(scope) && how !== "below its parent") {
          return "a pattern";
        }
        await cache.revalidatePath(scope);
        const isGone = await valueAt(request) !== before;
        const isSame = how !== "another" ||
          spell(scope) === spell(pathname + search);
        assertEquals(isGone, isSame, `${pathname} and ${scope}`);
        return isGone ? how : "kept";
      },
      [Symbol.asyncDispose]: () => app.close(),
    };
  },
);

/** Returns a URL's path with all escapes decoded. */
function spell(path: string): string {
  const { pathname } = new URL(`http://localhost${path}`);
  const bytes = pathname.replaceAll(
    /%([\da-f]{2})/gi,
    (_, hex) => {
      const char = String.fromCharCode(parseInt(hex, 16));
      return /[\w.~-]/.test(char) ? char : `%${hex.toLowerCase()}`;
    },
  );
  return bytes.replace(/(?<=.)\/+$/, "");
}
