/** Hostile requests, and clients that disconnect in the middle. */

import { frame, handshake, subscribe, writeAll } from "../../rpc/helpers.ts";
import { expect } from "../expect.ts";
import { borrow } from "../world.ts";
import type { World } from "../world.ts";
import type { Action } from "./action.ts";

/** A request that must be rejected or have no effect. */
interface Attack {
  readonly path: string;
  readonly init?: RequestInit;
  /** Expected status. */
  readonly status: number;
}

const json = { "content-type": "application/json" };
const post = (body: string, headers: HeadersInit = json): RequestInit => ({
  method: "POST",
  headers,
  body,
});

const ATTACKS: readonly Attack[] = [
  { path: "/api/rpc", init: post("{"), status: 400 },
  { path: "/api/rpc", init: post("null"), status: 400 },
  { path: "/api/rpc", init: post("[".repeat(100_000)), status: 400 },
  { path: "/api/rpc", init: post(`"${"x".repeat(1 << 20)}"`), status: 413 },
  {
    path: "/api/rpc",
    init: post('{"path":["__proto__","toString"],"type":"query"}'),
    status: 404,
  },
  {
    path: "/api/rpc",
    init: post('{"path":["favourites","add"],"type":"mutation"}', {}),
    status: 400,
  },
  {
    path: "/api/rpc",
    init: post(
      '{"path":["favourites","add"],"type":"mutation","input":{"code":"CHE"}}',
    ),
    status: 401,
  },
  { path: "/api/rpc?path=constructor", status: 404 },
  { path: "/api/rpc", init: { method: "DELETE" }, status: 405 },
  { path: "/countries/%00%zz", status: 400 },
  { path: "/countries/%00", status: 404 },
  { path: "/countries/..%2f..%2fetc%2fpasswd", status: 404 },
  { path: "/__proto__", status: 404 },
  {
    path: "/account",
    init: { headers: { cookie: "app.session=x.y.z" } },
    status: 401,
  },
  {
    path: "/account",
    init: { headers: { authorization: `Bearer ${"x".repeat(9_000)}` } },
    status: 401,
  },
  { path: "/", init: { headers: { cookie: "a=".repeat(2_000) } }, status: 200 },
  { path: "/", init: { headers: { traceparent: "00-x-y-z" } }, status: 200 },
  {
    path: "/sign-out",
    init: post("", { origin: "https://evil.example" }),
    status: 403,
  },
  {
    path: "/sign-up",
    init: post(`name=${"x".repeat(20_000)}`, {}),
    status: 413,
  },
  { path: "/sign-up", init: post("name=&email=x&password=y", {}), status: 422 },
  { path: "/admin/countries/CHE", status: 401 },
  { path: "/sign-in/hillside/callback?code=x&state=y", status: 400 },
  { path: "/__app/traces/api?limit=x", status: 400 },
  { path: "/__app/traces/api", init: post("{}"), status: 400 },
  {
    path: "/__app/traces/api",
    init: { headers: { origin: "https://evil.example" } },
    status: 403,
  },
  { path: "/__app/nothing", status: 404 },
];

const attack: Action = {
  name: "hostile",
  weight: 12,
  async run(world) {
    const { origin, traffic, random, counts } = world;
    // Failed sign-ins count per address, and all clients share one.
    if (counts.wrongPasswords < 40 && random.chance(0.02)) {
      counts.wrongPasswords++;
      const form = `email=p${random.below(5)}@example.com&password=a+guess`;
      const guess = await traffic.send(`${origin}/sign-in`, post(form, {}));
      return expect(guess.status, [401, 429], "a wrong password");
    }
    const { path, init = {}, status } = random.pick(ATTACKS);
    const response = await traffic.send(origin + path, {
      redirect: "manual",
      ...init,
    });
    const text = await response.text();
    expect(response.status, status, `${path} ${text.slice(0, 100)}`);
  },
};

const leave: Action = {
  name: "gone",
  weight: 8,
  async run(world) {
    const { random } = world;
    await random.pick([abort, readNothing, halfARequest, dropSocket])(world);
  },
};

/** Aborts a request in flight. */
async function abort({ origin }: World): Promise<void> {
  using client = Deno.createHttpClient({});
  const controller = new AbortController();
  const { signal } = controller;
  const response = fetch(origin, { signal, client });
  queueMicrotask(() => controller.abort());
  await response.then(({ body }) => body?.cancel(), () => {});
}

/** Requests a page without reading the body. */
async function readNothing({ origin }: World): Promise<void> {
  using client = Deno.createHttpClient({});
  const response = await fetch(`${origin}/script.js`, { client });
  expect(response.status, 200, "script");
  await response.body?.cancel();
}

/** Sends part of a request. */
async function halfARequest({ port, random }: World): Promise<void> {
  const text = "POST /api/rpc HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n" +
    '{"path":["countries"';
  const part = text.slice(0, 1 + random.below(text.length));
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await writeAll(connection, new TextEncoder().encode(part));
}

/** Subscribes, and closes the connection without closing the WebSocket. */
async function dropSocket(world: World): Promise<void> {
  await borrow(world, world.people, async ({ visitor }) => {
    const { port, random } = world;
    using connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const lines = handshake({ Cookie: visitor.cookie });
    await writeAll(connection, new TextEncoder().encode(lines));
    const buffer = new Uint8Array(4096);
    await connection.read(buffer);
    const text = JSON.stringify(subscribe("1", "favourites.live"));
    await writeAll(connection, frame(text));
    // Before or after the subscription has started.
    if (random.chance(0.5)) await connection.read(buffer);
  });
}

/** Actions of attackers and of clients that disconnect. */
export const HOSTILE: readonly Action[] = [attack, leave];
