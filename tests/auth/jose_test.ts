/**
 * Tokens are interoperable with another implementation, in both directions.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { errors, jwtVerify, SignJWT, UnsecuredJWT } from "jose";
import {
  claimsOf,
  OTHER_SECRET,
  SECRET,
  startAuth,
  STRATEGIES,
  USERS,
} from "./harness.ts";
import type { AuthServer, Me } from "./harness.ts";

const key = new TextEncoder().encode(SECRET);
const party = { issuer: "https://app.example", audience: "app" };

async function who(server: AuthServer, token: string) {
  const response = await fetch(`${server.origin}/me`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assertEquals(response.status, 200);
  const { user, session }: Me = await response.json();
  return { user, session };
}

Deno.test("jose verifies the kit's tokens, with issuer, audience, type and expiry", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy, ...party } });
    const { token, session }: Me = await (await server.signIn()).json("/me");
    const currentDate = new Date(server.clock.now());
    const options = {
      ...party,
      algorithms: ["HS256"],
      typ: "JWT",
      subject: "1",
      requiredClaims: ["sub", "iat", "exp", "sid", "auth_time"],
      maxTokenAge: "1 minute",
      currentDate,
    };
    const { payload, protectedHeader } = await jwtVerify(token!, key, options);
    assertEquals(protectedHeader, { alg: "HS256", typ: "JWT" });
    assertEquals(payload, {
      sub: "1",
      iss: party.issuer,
      aud: party.audience,
      iat: server.clock.seconds,
      exp: server.clock.seconds + 604800,
      auth_time: server.clock.seconds,
      sid: session!["sessionId"],
      email: "ada@example.com",
      name: "Ada",
      roles: ["admin", "editor"],
      provider: "credentials",
      plan: "pro",
    });

    // jose rejects the same tokens as the kit.
    await assertRejects(
      () => jwtVerify(token!, new TextEncoder().encode(OTHER_SECRET), options),
      errors.JWSSignatureVerificationFailed,
    );
    await assertRejects(
      () =>
        jwtVerify(token!, key, {
          currentDate: new Date(server.clock.now() + 604_800_000),
        }),
      errors.JWTExpired,
    );
  }
});

Deno.test("The kit accepts tokens signed by jose as sessions", async () => {
  await using server = await startAuth({ session: party });
  const make = (header: Record<string, unknown> = {}) =>
    new SignJWT({ name: "Grace", roles: ["editor"], plan: "free" })
      .setProtectedHeader({ alg: "HS256", ...header })
      .setSubject("7")
      .setIssuer(party.issuer)
      .setAudience(["app", "other"])
      .setIssuedAt(server.clock.seconds)
      .setExpirationTime(server.clock.seconds + 60);
  for (const header of [{}, { typ: "JWT" }]) {
    const { user, session } = await who(server, await make(header).sign(key));
    assertEquals(user, {
      id: "7",
      name: "Grace",
      roles: ["editor"],
      plan: "free",
    });
    assertEquals(
      session!["expiresAt"],
      new Date(server.clock.now() + 60_000).toISOString(),
    );
    assertEquals(session!["sessionId"], undefined);
  }

  const refused = [
    await make({ kid: "1" }).sign(key),
    await make({ typ: "at+jwt" }).sign(key),
    await make({ alg: "HS512" }).sign(key),
    await make().sign(new TextEncoder().encode(OTHER_SECRET)),
    await make().setIssuer("https://other.example").sign(key),
    await make().setAudience("other").sign(key),
    await make().setNotBefore(server.clock.seconds + 1).sign(key),
    await make().setExpirationTime(server.clock.seconds).sign(key),
    new UnsecuredJWT(claimsOf(await make().sign(key))).encode(),
  ];
  for (const token of refused) {
    assertEquals((await who(server, token)).session, null, token);
  }
});

Deno.test("A token signed by jose is a session in a store if it names one of its user's sessions", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    await using server = await startAuth({ session: { strategy } });
    const { session }: Me = await (await server.signIn()).json("/me");
    const make = (sub: string, sid?: unknown) =>
      new SignJWT(sid === undefined ? {} : { sid })
        .setProtectedHeader({ alg: "HS256" })
        .setSubject(sub)
        .setIssuedAt(server.clock.seconds)
        .setExpirationTime(server.clock.seconds + 60)
        .sign(key);
    const sid = session!["sessionId"];
    // With the strategy `cookie`, the store holds the session's content.
    assertEquals(
      (await who(server, await make("1", sid))).user,
      strategy === "cookie" ? USERS["ada"] : { id: "1" },
    );
    assertEquals((await who(server, await make("2", sid))).user, null);
    assertEquals((await who(server, await make("1"))).user, null);
    await server.plugin.revokeSessions("1");
    assertEquals((await who(server, await make("1", sid))).user, null);
  }
});

Deno.test("A token of the kit stays valid when jose signs its claims again", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const { token, session }: Me = await (await server.signIn()).json("/me");
    const again = await new SignJWT(claimsOf(token!))
      .setProtectedHeader({ typ: "JWT", alg: "HS256" })
      .sign(key);
    assert(again !== token, "another order of header fields");
    assertEquals((await who(server, again)).session, session);
  }
});
