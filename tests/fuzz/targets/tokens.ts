import * as fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import type { AuthPlugin } from "@quartet/kit/auth";
import {
  base64url,
  createClock,
  forge,
  HEADER,
  sign,
  startAuth,
  STRATEGIES,
} from "../../auth/harness.ts";
import { anyJSON, mostly, objectOf } from "../input/json.ts";
import { applyEdits, edits, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const NOW = createClock().seconds;

const past = mostly(fc.constantFrom(NOW - 100, NOW - 1, NOW, NOW + 1));
const future = mostly(fc.constantFrom(NOW + 3600, NOW + 1, NOW, NOW - 1));
const claims = objectOf({
  sub: mostly(fc.constantFrom("1", "2", "3", "")),
  iat: past,
  exp: future,
  nbf: past,
  sid: mostly(fc.constant("x")),
  roles: mostly(fc.constantFrom(["admin"], [])),
  email: mostly(fc.constant("ada@example.com")),
  provider: mostly(fc.constant("credentials")),
});
const header = objectOf({
  alg: mostly(fc.constantFrom("HS256", "none", "HS512", "hs256")),
  typ: mostly(fc.constantFrom("JWT", "jwt")),
  crit: anyJSON,
  kid: anyJSON,
});

/** Values in place of a token. */
const credential = fc.oneof(
  // A changed valid token.
  fc.record({ kind: fc.constant("changed" as const), edits }),
  // A token signed with the right secret, with any content.
  fc.record({
    kind: fc.constant("signed" as const),
    header: fc.oneof(
      { arbitrary: fc.constant(HEADER), weight: 4 },
      { arbitrary: fc.oneof(header, piece), weight: 1 },
    ),
    payload: fc.oneof(
      { arbitrary: claims, weight: 4 },
      { arbitrary: piece, weight: 1 },
    ),
  }),
  // A text signed like a session's id.
  fc.record({ kind: fc.constant("id" as const), text: piece }),
  fc.record({
    kind: fc.constant("anything" as const),
    parts: fc.array(
      fc.oneof(anyJSON.map((json) => JSON.stringify(json)), piece),
      {
        maxLength: 4,
      },
    ),
  }),
);

type Credential = typeof credential extends fc.Arbitrary<infer T> ? T : never;

const input = fc.record({
  strategy: fc.constantFrom(...STRATEGIES),
  isBearer: fc.boolean(),
  credential,
});

export const tokens = defineTarget(
  "tokens",
  "no token causes an error, and only signed ones sign in",
  input,
  async () => {
    const stack = new AsyncDisposableStack();
    const known = new Map<string, { plugin: AuthPlugin; token: string }>();
    for (const strategy of STRATEGIES) {
      const server = stack.use(await startAuth({ session: { strategy } }));
      const { cookies } = await server.signIn();
      const token = cookies.get("app.session")!.value;
      known.set(strategy, { plugin: server.plugin, token });
    }

    return {
      async check({ strategy, isBearer, credential }) {
        const { plugin, token } = known.get(strategy)!;
        const text = asHeader(await textOf(credential, token));
        const request = requestOf("/", {
          headers: isBearer
            ? { authorization: `Bearer ${text}` }
            : { cookie: `app.session=${text}` },
        });
        if (request === undefined) return "not sent";
        const auth = await plugin.authenticate(request);
        const { session } = auth;
        assertEquals(auth.isAuthenticated(), session !== null);
        if (session === null) return "anonymous";
        if (credential.kind === "signed") {
          assertEquals(
            strategy,
            "jwt",
            "a token alone is enough only with this strategy",
          );
          checkClaims(credential);
          return "signed in by a signature";
        }
        // After a cookie's value comes another cookie.
        const shown = isBearer ? text.trim() : text.split(";")[0]!.trim();
        assertEquals(shown, token, "no other token is that of a session");
        return "signed in by a session's token";
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  },
);

async function textOf(
  credential: Credential,
  token: string,
): Promise<string> {
  switch (credential.kind) {
    case "changed":
      return applyEdits(token, credential.edits);
    case "signed":
      return await forge(credential.payload, credential.header);
    case "id":
      return await sign(credential.text);
    case "anything":
      return credential.parts.map((part) => base64url(part)).join(".");
  }
}

/** Checks that the session has a user and an end. */
function checkClaims(
  { header, payload }: { header: unknown; payload: unknown },
): void {
  const read = (part: unknown) =>
    typeof part === "string" ? JSON.parse(part) : part;
  assertEquals(read(header).alg, "HS256");
  const { sub, iat, exp } = read(payload);
  assert(typeof sub === "string" && sub !== "", "it says who it is");
  assert(typeof iat === "number" && typeof exp === "number");
  assert(exp > NOW, "it has not expired");
}
