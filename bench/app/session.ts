/**
 * A guarded route that returns the session's user. The session is a JWT in a
 * cookie that each server has seen before.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createAuthPlugin, requireAuth, type User } from "@quartet/kit/auth";
import { Elysia } from "elysia";
import { Hono } from "hono";
import { jwt, type JwtVariables } from "hono/jwt";
import { jwtVerify } from "jose";
import { byHand, type Case, kit } from "./case.ts";
import { notFound } from "./floor.ts";

const SECRET = "a secret of at least thirty-two bytes";
const KEY = new TextEncoder().encode(SECRET);
const COOKIE = "app.session";

interface Claims {
  readonly sub?: string;
  readonly name?: string;
  readonly exp?: number;
}

const auth = createAuthPlugin({
  session: { secret: SECRET },
  providers: [{
    id: "all",
    name: "All",
    type: "credentials",
    authorize: (user) => Promise.resolve(user as User),
  }],
});

/** Creates the case, with a cookie that any of its servers accepts. */
export async function session(): Promise<Case> {
  const context = await auth.authenticate(new Request("http://localhost/"));
  await context.signIn("all", { id: "7", name: "Ada Lovelace" });
  return {
    title: "A guarded route with a session",
    path: "/me",
    cookie: context.getCookieHeader()!.split(";")[0]!,
    target: ["floor", 0.9],
    candidates: {
      ...byHand((request, path) => path === "/me" ? me(request) : notFound()),
      ...kit(createKitApp),
      "Hono": createHono,
      "Elysia": () => createElysia(),
      "Elysia, no-store": () => createElysia({ "cache-control": "no-store" }),
    },
  };
}

const seen = new Map<string, Claims>();

/**
 * The route by hand: each token is verified once, and its expiry is checked
 * every time.
 */
function me(request: Request): Response | Promise<Response> {
  const cookies = request.headers.get("cookie") ?? "";
  const token = /(?:^|; )app\.session=([^;]+)/.exec(cookies)?.[1];
  if (token === undefined) return answer(undefined);
  const claims = seen.get(token);
  if (claims !== undefined) {
    return answer(claims.exp! * 1000 > Date.now() ? claims : undefined);
  }
  return verify(token).then((claims) => {
    if (seen.size === 1_000) seen.clear();
    if (claims !== undefined) seen.set(token, claims);
    return answer(claims);
  });
}

function answer(claims: Claims | undefined): Response {
  if (claims === undefined) return new Response(null, { status: 401 });
  const headers = { "cache-control": "private" };
  return Response.json({ id: claims.sub, name: claims.name }, { headers });
}

async function verify(token: string): Promise<Claims | undefined> {
  try {
    const options = { algorithms: ["HS256"] };
    return (await jwtVerify<Claims>(token, KEY, options)).payload;
  } catch {
    return undefined;
  }
}

function createKitApp() {
  return createApp({
    plugins: [auth],
    routes: [{
      path: "/me",
      config: { ...requireAuth() },
      loader: ({ context }) => {
        const { id, name } = auth.getUser(context)!;
        return { id, name };
      },
    }],
  });
}

function createHono() {
  return new Hono<{ Variables: JwtVariables<Claims> }>()
    .use(jwt({ secret: SECRET, cookie: COOKIE, alg: "HS256" }))
    .get("/me", (c) => {
      const { sub, name } = c.get("jwtPayload");
      return c.json({ id: sub, name });
    });
}

/** Elysia's JWT plugin also verifies with jose. */
function createElysia(headers: Record<string, string> = {}) {
  return new Elysia().headers(headers).get("/me", async (c) => {
    const claims = await verify(String(c.cookie[COOKIE]?.value));
    if (claims === undefined) return c.status(401, "");
    return { id: claims.sub, name: claims.name };
  });
}
