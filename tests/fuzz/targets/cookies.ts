import * as fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { parseCookie } from "../../auth/browser.ts";
import { startAuth } from "../../auth/harness.ts";
import { piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const NAME = "app.session";

const name = fc.oneof(
  { arbitrary: fc.constant(NAME), weight: 3 },
  { arbitrary: fc.nat(3).map((n) => `${NAME}.${n}`), weight: 6 },
  {
    arbitrary: fc.constantFrom(
      `${NAME}.10`,
      `${NAME}.01`,
      `${NAME}.`,
      `${NAME}.-1`,
      `x${NAME}`,
      `${NAME}x`,
      `__Host-${NAME}`,
      `__Secure-${NAME}`,
      "APP.SESSION",
      "a",
      "",
    ),
    weight: 2,
  },
);

/** A cookie's value: part of the token, or any text. */
const value = fc.oneof(
  { arbitrary: fc.constant([0, 1] as const), weight: 3 },
  { arbitrary: fc.constantFrom([0, .5] as const, [.5, 1] as const), weight: 6 },
  { arbitrary: fc.constantFrom([0, .3] as const, [.3, 1] as const), weight: 1 },
  { arbitrary: piece, weight: 1 },
);

const cookie = fc.record({
  name,
  value,
  equals: fc.oneof(
    { arbitrary: fc.constant("="), weight: 12 },
    { arbitrary: fc.constantFrom("", " = ", "=="), weight: 1 },
  ),
  end: fc.oneof(
    { arbitrary: fc.constant("; "), weight: 12 },
    { arbitrary: fc.constantFrom(";", ";;", ", ", " ; ", "\t;"), weight: 3 },
  ),
});

type Cookie = typeof cookie extends fc.Arbitrary<infer T> ? T : never;

/** Whether a browser may send it (RFC 6265, section 4.2.1). */
const isPlain = ({ value, equals, end }: Cookie) =>
  typeof value !== "string" && equals === "=" && end === "; ";

export const cookies = defineTarget(
  "cookies",
  "a session cookie is accepted only if its value appears once, whole or in chunks",
  fc.array(cookie, { maxLength: 5 }),
  async () => {
    const server = await startAuth();
    const token = (await server.signIn()).cookies.get(NAME)!.value;
    const part = ([from, to]: readonly [number, number]) =>
      token.slice(from * token.length, to * token.length);
    return {
      async check(pieces) {
        const header = pieces.map(({ name, equals, value, end }) =>
          name + equals + (typeof value === "string" ? value : part(value)) +
          end
        ).map(asHeader).join("");
        const request = requestOf("/", { headers: { cookie: header } });
        if (request === undefined) return "not sent";
        const auth = await server.plugin.authenticate(request);
        checkClearing(auth.getCookieHeader());
        // The value as it arrives, without surrounding white space.
        const isToBe = valueIn(request.headers.get("cookie")!) === token;
        const what = header.replaceAll(token, "<token>");
        // The kit may reject cookies that no browser sends.
        if (isToBe && !pieces.every(isPlain)) return "too odd";
        assertEquals(auth.isAuthenticated(), isToBe, `Cookie: ${what}`);
        return isToBe ? "signed in" : "anonymous";
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
);

/** Checks that the response clears an invalid cookie with a valid header. */
function checkClearing(line: string | null): void {
  if (line === null) return;
  assertEquals(new Headers({ "set-cookie": line }).getSetCookie(), [line]);
  const [name, { value, attributes }] = parseCookie(line);
  assert(/^app\.session(\.\d)?$/.test(name), name);
  assertEquals([value, attributes["max-age"]], ["", "0"]);
}

/** Parses the header by the standard (RFC 6265, section 4.2.1). */
function valueIn(header: string): string | undefined {
  const found = new Map<string, Set<string>>();
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (at === -1) continue;
    const name = pair.slice(0, at).trim();
    if (!/^app\.session(\.\d)?$/.test(name)) continue;
    const value = pair.slice(at + 1).trim();
    found.set(name, (found.get(name) ?? new Set()).add(value));
  }
  if (found.values().some(({ size }) => size > 1)) return undefined;
  const valueOf = (name: string) => [...found.get(name) ?? []][0];
  const whole = valueOf(NAME);
  if (whole !== undefined) return found.size === 1 ? whole : undefined;
  const chunks = Array.from(found, (_, i) => valueOf(`${NAME}.${i}`));
  return chunks.includes(undefined) ? undefined : chunks.join("");
}
