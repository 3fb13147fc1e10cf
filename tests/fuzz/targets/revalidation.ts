import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createCache } from "@quartet/kit/data";
import { mostly, objectOf } from "../input/json.ts";
import type { JSONValue } from "../input/json.ts";
import { applyEdits, edits, mutated, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const SECRET = "the secret of the fuzz, which nobody guesses";

const strings = mostly<JSONValue>(
  fc.array(fc.oneof(fc.constantFrom("posts", "/posts/*", "/posts/1"), piece), {
    maxLength: 3,
  }),
);

const input = fc.record({
  method: fc.constantFrom("POST", "POST", "POST", "POST", "POST", "GET", "PUT"),
  authorization: fc.oneof(
    { arbitrary: fc.constant(`Bearer ${SECRET}`), weight: 4 },
    {
      arbitrary: edits.map((edits) => applyEdits(`Bearer ${SECRET}`, edits)),
      weight: 2,
    },
    { arbitrary: piece, weight: 1 },
  ),
  type: fc.oneof(
    { arbitrary: fc.constant("application/json"), weight: 6 },
    { arbitrary: fc.oneof(fc.constant("text/plain"), piece), weight: 1 },
  ),
  body: mutated(
    mostly(
      objectOf({
        tags: strings,
        paths: strings,
        all: mostly<JSONValue>(fc.boolean(), fc.constantFrom("false", 0)),
      }),
    ).map((body) => JSON.stringify(body)),
  ),
});

export const revalidation = defineTarget(
  "revalidation",
  "only requests with the secret and a valid body invalidate anything",
  input,
  () => {
    const cache = createCache();
    const handler = cache.createRevalidationHandler(SECRET);
    return {
      async check({ method, authorization, type, body }) {
        const request = requestOf("/api/revalidate", {
          method,
          headers: {
            authorization: asHeader(authorization),
            "content-type": asHeader(type),
          },
          ...method !== "GET" && { body },
        });
        if (request === undefined) return "not sent";
        const header = request.headers.get("authorization")!;
        const response = await handler(request);
        const { status } = response;
        const answer = await response.json();
        assert([200, 400, 401, 405, 413, 415].includes(status), `${status}`);
        if (method !== "POST") {
          assertEquals(status, 405);
          return "405";
        }
        const isAllowed = /^bearer +/i.test(header) &&
          header.replace(/^bearer +/i, "") === SECRET;
        assertEquals(status === 401, !isAllowed, header);
        if (status !== 200) {
          assertEquals(Object.keys(answer), ["error"]);
          assertEquals(typeof answer.error.code, "string");
          assert(!JSON.stringify(answer).includes(SECRET));
          return `${status}`;
        }
        const { tags = [], paths = [], all = false } = JSON.parse(
          // Decoding UTF-8 removes the byte order mark (Encoding, section 6).
          body.replace(/^\ufeff/, ""),
        );
        assert([...tags, ...paths].every((item) => typeof item === "string"));
        assertEquals(typeof all, "boolean");
        assertEquals(answer.success, true);
        return "200";
      },
    };
  },
);
