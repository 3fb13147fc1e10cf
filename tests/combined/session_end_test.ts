/** Subscriptions that have read the user end with the session. */

import { assert, assertEquals } from "@std/assert";
import { type Context, currentContext, toHono } from "@quartet/kit/app";
import {
  apiKey,
  createMemorySessionStore,
  getAuth,
  type JWTPayload,
  optionalAuth,
  type SessionStore,
} from "@quartet/kit/auth";
import { rpcPlugin, type WSConnectionData } from "@quartet/kit/rpc";
import { createTracer } from "@quartet/kit/trace";
import { Hono } from "hono";
import { createClock } from "../auth/harness.ts";
import { captureErrors } from "../helpers.ts";
import { type Client, connect, subscribe, until } from "../rpc/helpers.ts";
import {
  createSessionsAuth,
  createUserRouter,
  ended,
  type Log,
  startSessions,
} from "./session_end.ts";

/** Subscribes, and waits for the first value. The id is the path. */
async function begin(client: Client, path: string): Promise<unknown> {
  client.send(subscribe(path, path));
  const { type, data, error } = await client.next();
  return type === "data" ? data : error;
}

/** Creates a store that records what the session watcher does. */
function spyStore(now = Date.now) {
  const memory = createMemorySessionStore({ now });
  const spy = { reads: 0, listeners: 0, isAway: false };
  const store: SessionStore = {
    ...memory,
    get(id) {
      spy.reads++;
      if (spy.isAway) throw new Error("The store is away");
      return memory.get(id);
    },
    onEnded(listener) {
      spy.listeners++;
      const stop = memory.onEnded(listener);
      return () => {
        spy.listeners--;
        stop();
      };
    },
  };
  return Object.assign(spy, { store, memory });
}

/** Creates an application's store that doesn't report ended sessions. */
function muteStore(now = Date.now) {
  const spy = spyStore(now);
  const { onEnded: _, ...store } = spy.store;
  return Object.assign(spy, { store });
}

/** Creates a clock, and roles that each refresh reads again. */
function changingRoles(...roles: string[]) {
  const clock = createClock();
  const user = {
    clock,
    roles,
    auth: {
      now: clock.now,
      callbacks: {
        jwt: ({ token }: { token: JWTPayload }) =>
          Promise.resolve({ ...token, roles: user.roles }),
      },
    },
  };
  return user;
}

Deno.test("A subscription begins with a store that answers later than sessions are looked at", async () => {
  const { store } = muteStore();
  const slow: SessionStore = {
    ...store,
    async get(id) {
      // Sessions of a store without onEnded() are looked at every 500 ms.
      await new Promise((resolve) => setTimeout(resolve, 700));
      return await store.get(id);
    },
  };
  await using server = await startSessions({ session: { store: slow } });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  assertEquals(await begin(client, "mine"), "ada");
  await server.auth.revokeSessions("ada");
  assertEquals(await client.next(), ended("mine"));
});

Deno.test("Signing out ends only the subscriptions that read the user", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    await using server = await startSessions({ session: { strategy } });
    const { log } = server;
    const cookie = await server.signIn();
    await using ada = await server.open(cookie);
    await using elsewhere = await server.open(await server.signIn());
    await using bob = await server.open(await server.signIn("bob"));
    for (const client of [ada, elsewhere, bob]) {
      for (const path of ["clock", "mine"]) await begin(client, path);
      assertEquals(await begin(client, "late"), "begun");
      await client.next();
    }
    assertEquals(log, { running: 9, ended: 0 });

    await server.post("/sign-out", cookie);
    assertEquals(await ada.take(2), [ended("mine"), ended("late")]);
    await until(() => log.ended === 2);
    assertEquals(log.running, 7);
    // The others continue, and the ids are free again.
    assertEquals(await begin(ada, "often"), ended("often").error);
    ada.send(subscribe("mine", "clock"));
    assertEquals(await ada.take(1), [{
      type: "data",
      id: "mine",
      data: "tick",
    }]);
    for (const client of [ada, elsewhere, bob]) {
      assertEquals(await client.settle(), []);
    }
    assertEquals(log, { running: 8, ended: 2 });
  }
});

for (
  const [name, moment, later] of [
    ["opens no subscription, and ends existing ones in time", 2, 31],
    ["ends its subscriptions also after the clock was put back", -2, -3_600],
  ] as const
) {
  Deno.test(`A session lost by its store ${name}`, async () => {
    const clock = createClock();
    const { store, memory } = spyStore(clock.now);
    await using server = await startSessions({
      session: { store: { ...store, onEnded: () => () => {} } },
      auth: { now: clock.now },
    });
    await using ada = await server.open(await server.signIn());
    for (const path of ["clock", "mine"]) await begin(ada, path);
    await memory.deleteByUser("ada");
    clock.pass(moment);
    ada.send(subscribe("late", "late"));
    assertEquals(await ada.take(3), [
      ended("mine"),
      { type: "data", id: "late", data: "begun" },
      ended("late"),
    ]);
    assertEquals(await ada.settle(), []);

    clock.pass(-moment);
    await using again = await server.open(await server.signIn());
    for (const path of ["clock", "mine"]) await begin(again, path);
    await memory.deleteByUser("ada");
    clock.pass(later);
    assertEquals(await again.next(), ended("mine"));
    assertEquals(await again.settle(), []);
  });
}

Deno.test("revokeSession() and revokeSessions() end subscriptions, by cookie and by token", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const how of ["one", "all"]) {
      await using server = await startSessions({ session: { strategy } });
      const { auth } = server;
      const cookie = await server.signIn();
      const token = await server.token(cookie);
      await using byCookie = await server.open(cookie);
      await using byToken = await server.open("", {
        authorization: `Bearer ${token}`,
      });
      await using bob = await server.open(await server.signIn("bob"));
      for (const client of [byCookie, byToken, bob]) {
        await begin(client, "mine");
      }
      const [session] = await auth.listSessions("ada");
      if (how === "all") assertEquals(await auth.revokeSessions("ada"), 1);
      else await auth.revokeSession(session!.id);
      for (const client of [byCookie, byToken]) {
        assertEquals(await client.next(), ended("mine"));
      }
      assertEquals(await bob.settle(), []);
    }
  }
});

Deno.test("An expired session ends its subscriptions, with every strategy", async () => {
  for (const strategy of ["jwt", "cookie", "hybrid"] as const) {
    const clock = createClock();
    await using server = await startSessions({
      session: { strategy, maxAge: 60 },
      auth: { now: clock.now },
    });
    await using first = await server.open(await server.signIn());
    clock.pass(30);
    await using second = await server.open(await server.signIn());
    for (const client of [first, second]) {
      for (const path of ["clock", "mine"]) await begin(client, path);
    }
    clock.pass(30);
    assertEquals(await first.next(), ended("mine"));
    assertEquals(await begin(first, "late"), "begun");
    assertEquals(await first.next(), ended("late"));
    assertEquals(await first.settle(), []);
    assertEquals(await second.settle(), []);
  }
});

Deno.test("With the strategy jwt, only expiry ends a subscription", async () => {
  await using server = await startSessions({ session: { strategy: "jwt" } });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  await begin(client, "mine");
  await server.post("/sign-out", cookie);
  assertEquals(await client.settle(), []);
});

Deno.test("A refresh keeps subscriptions beyond the original expiry", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const createStore of [spyStore, muteStore]) {
      const clock = createClock();
      const spy = createStore(clock.now);
      await using server = await startSessions({
        session: { strategy, maxAge: 60, updateAge: 10, store: spy.store },
        auth: { now: clock.now },
      });
      const cookie = await server.signIn();
      await using client = await server.open(cookie);
      await begin(client, "mine");
      clock.pass(30);
      await server.post("/refresh", cookie);
      clock.pass(45);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      assertEquals(await client.settle(), []);
      clock.pass(20);
      assertEquals(await client.next(), ended("mine"));
    }
  }
});

Deno.test("A role removed by a refresh ends subscriptions, an added one doesn't", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    const user = changingRoles("admin", "editor");
    await using server = await startSessions({
      session: { strategy, updateAge: 10 },
      auth: user.auth,
    });
    let cookie = await server.signIn();
    await using client = await server.open(cookie);
    for (const path of ["clock", "mine"]) await begin(client, path);

    user.roles = ["editor", "admin", "owner"];
    user.clock.pass(60);
    cookie = await server.post("/refresh", cookie);
    assertEquals(await client.settle(), []);

    user.roles = ["editor", "owner"];
    user.clock.pass(60);
    cookie = await server.post("/refresh", cookie);
    assertEquals(await client.next(), ended("mine"));
    // Its old roles are rejected on this socket too.
    assertEquals(await begin(client, "mine"), ended("mine").error);
    assertEquals(await client.settle(), []);
    await using again = await server.open(cookie);
    assertEquals(await begin(again, "mine"), "ada");
  }
});

Deno.test("Neither an idle socket nor the old cookie keeps a removed role", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    const user = changingRoles("admin", "editor");
    await using server = await startSessions({
      session: { strategy, updateAge: 10 },
      auth: user.auth,
    });
    const old = await server.signIn();
    await using idle = await server.open(old);
    user.roles = ["editor"];
    user.clock.pass(60);
    const cookie = await server.post("/refresh", old);
    await using client = await server.open(cookie);
    // The session is watched from here on.
    assertEquals(await begin(client, "mine"), "ada");

    // It was opened with the admin role.
    assertEquals(await begin(idle, "mine"), ended("mine").error);
    await using again = await server.open(old);
    assertEquals(await begin(again, "roles"), ["editor"]);
    user.clock.pass(60);
    await server.post("/refresh", cookie);
    assertEquals(await again.settle(), []);
    assertEquals(await client.settle(), []);
  }
});

Deno.test("A role found by authenticating again on an old socket ends with a refresh too", async () => {
  const user = changingRoles("reader");
  const store = createMemorySessionStore({ now: user.clock.now });
  const options = { session: { updateAge: 10, store }, auth: user.auth };
  const auth = createSessionsAuth(options);
  await using server = await startSessions({ ...options, by: auth });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  assertEquals(await begin(client, "mine"), "ada");
  for (const roles of [["reader", "owner"], ["reader"]]) {
    user.roles = roles;
    user.clock.pass(60);
    await server.post("/refresh", cookie);
    if (roles.length === 2) assertEquals(await begin(client, "now"), roles);
  }
  assertEquals(await client.next(), ended("now"));
  assertEquals(await client.settle(), []);
});

Deno.test("The session and onSessionValidate callbacks run when a session has changed", async () => {
  for (const callback of ["session", "onSessionValidate"]) {
    let isGood = true;
    let calls = 0;
    const { store, memory } = spyStore();
    await using server = await startSessions({
      session: { store },
      auth: {
        callbacks: callback === "session"
          ? {
            session({ session }) {
              calls++;
              if (!isGood) session.roles = [];
              return Promise.resolve(session);
            },
          }
          : {
            onSessionValidate: () => {
              calls++;
              return Promise.resolve(isGood);
            },
          },
      },
    });
    const cookie = await server.signIn();
    await using client = await server.open(cookie);
    await begin(client, "mine");
    const { id } = (await server.auth.listSessions("ada"))[0]!;
    const refresh = () => {
      const record = memory.get(id)!;
      memory.touch({ ...record, refreshedAt: record.refreshedAt + 1 });
    };
    calls = 0;
    refresh();
    await until(() => calls === 1);
    assertEquals(await client.settle(), []);
    isGood = false;
    refresh();
    assertEquals(await client.next(), ended("mine"));
  }
});

Deno.test("Code that read the session at the upgrade ties the whole socket to it", async () => {
  await using server = await startSessions({
    before: (request, context, next) => {
      if (request.headers.has("upgrade")) getAuth(context).isAuthenticated();
      return next();
    },
  });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  await using anonymous = await server.open();
  for (const path of ["clock", "mine"]) await begin(client, path);
  await begin(anonymous, "clock");
  await server.post("/sign-out", cookie);
  assertEquals(await client.take(2), [ended("clock"), ended("mine")]);
  assertEquals(await begin(client, "clock"), ended("clock").error);
  assertEquals(await anonymous.settle(), []);
  assertEquals(server.log, { running: 1, ended: 2 });
});

Deno.test("optionalAuth() at the upgrade doesn't read the user, so public subscriptions go on", async () => {
  const { check } = optionalAuth().auth;
  await using server = await startSessions({
    before: async (request, context, next) =>
      await check(request, context as Context) ?? await next(),
  });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  for (const path of ["clock", "mine"]) await begin(client, path);
  await server.post("/sign-out", cookie);
  assertEquals(await client.next(), ended("mine"));
  assertEquals(await client.settle(), []);
});

Deno.test("A subscription's span shows that its session has ended", async () => {
  const tracer = createTracer();
  await using server = await startSessions({ trace: tracer });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  await begin(client, "mine");
  await server.post("/sign-out", cookie);
  assertEquals(await client.next(), ended("mine"));
  await until(() => server.log.ended === 1);
  const ends = () =>
    tracer.getTraces().flatMap(({ spans }) => [...spans.values()])
      .filter(({ name }) => name === "rpc:mine")
      .map(({ attributes }) => [
        attributes["app.rpc.end"],
        attributes["rpc.status_code"],
      ]);
  await until(() => ends()[0]?.[1] !== undefined);
  assertEquals(ends(), [["session_ended", "UNAUTHORIZED"]]);
});

Deno.test("A session that ended before a subscription begins is anonymous", async () => {
  for (const isWatched of [false, true]) {
    await using server = await startSessions();
    const cookie = await server.signIn();
    await using client = await server.open(cookie);
    if (isWatched) await begin(client, "clock");
    await server.post("/sign-out", cookie);
    for (const path of ["mine", "often", "mine"]) {
      assertEquals(await begin(client, path), ended(path).error);
    }
    assertEquals(await begin(client, "late"), "begun");
    assertEquals(await client.next(), ended("late"));
    assertEquals(server.log, { running: isWatched ? 1 : 0, ended: 0 });
    assertEquals(await client.settle(), []);
  }
});

Deno.test("A session that ends while its socket opens ends its subscriptions", async () => {
  const memory = createMemorySessionStore();
  let onRead: ((id: string) => void) | undefined;
  await using server = await startSessions({
    session: {
      store: {
        ...memory,
        async get(id) {
          const record = memory.get(id);
          // Ends between the check of the request and its upgrade.
          onRead?.(id);
          await undefined;
          return record;
        },
      },
    },
  });
  const cookie = await server.signIn();
  onRead = (id) => {
    onRead = undefined;
    memory.delete(id);
  };
  await using client = await server.open(cookie);
  assertEquals(await begin(client, "mine"), ended("mine").error);
  assertEquals(server.log.ended, 0);
});

Deno.test("A store without onEnded is polled only while a session is watched", async () => {
  const spy = muteStore();
  await using server = await startSessions({ session: { store: spy.store } });
  const cookie = await server.signIn();
  const other = await server.signIn("bob");
  {
    await using ada = await server.open(cookie);
    await using bob = await server.open(other);
    for (const client of [ada, bob]) {
      for (const path of ["clock", "mine"]) await begin(client, path);
    }
    await server.auth.revokeSessions("ada");
    assertEquals(await ada.next(), ended("mine"));
    assertEquals(await bob.settle(), []);
    const { reads } = spy;
    await until(() => spy.reads > reads + 2);
  }
  await until(() => server.log.running === 0);
  const { reads } = spy;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assertEquals(spy.reads, reads);
});

Deno.test("Requests and sockets that watch no session cause no listening or polling", async () => {
  const spy = spyStore();
  await using server = await startSessions({ session: { store: spy.store } });
  const cookie = await server.signIn();
  {
    await using idle = await server.open(cookie);
    await idle.settle();
    assertEquals(spy.listeners, 0);
    await using client = await server.open(cookie);
    const { reads } = spy;
    for (const path of ["clock", "mine", "late"]) await begin(client, path);
    // One read for all of them.
    assertEquals([spy.listeners, spy.reads], [1, reads + 1]);
  }
  await until(() => spy.listeners === 0);
  await using client = await server.open();
  await begin(client, "clock");
  assertEquals(spy.listeners, 0);
});

Deno.test("During an outage of the store, subscriptions go on until the known expiry", async () => {
  const clock = createClock();
  const spy = spyStore(clock.now);
  using _captured = captureErrors();
  await using server = await startSessions({
    session: { store: spy.store, maxAge: 60 },
    auth: { now: clock.now },
  });
  await using ada = await server.open(await server.signIn());
  await using bob = await server.open(await server.signIn("bob"));
  for (const client of [ada, bob]) await begin(client, "mine");
  spy.isAway = true;
  await server.auth.revokeSessions("ada");
  const { reads } = spy;
  await until(() => spy.reads > reads + 2);
  assertEquals(await ada.settle(), []);
  spy.isAway = false;
  assertEquals(await ada.next(), ended("mine"));
  spy.isAway = true;
  clock.pass(60);
  assertEquals(await bob.next(), ended("mine"));
});

Deno.test("endWithSession: false lets subscriptions go on", async () => {
  const spy = spyStore();
  await using server = await startSessions({
    session: { store: spy.store },
    rpc: { endWithSession: false },
  });
  const cookie = await server.signIn();
  await using client = await server.open(cookie);
  for (const path of ["clock", "mine"]) await begin(client, path);
  await server.post("/sign-out", cookie);
  assertEquals(await begin(client, "late"), "begun");
  assertEquals((await client.next()).data, "ada");
  assertEquals(await client.settle(), []);
  assertEquals(spy.listeners, 0);
});

Deno.test("Users of API keys have no session that could end", async () => {
  const spy = spyStore();
  await using server = await startSessions({
    session: { store: spy.store },
    auth: {
      providers: [apiKey({ validate: () => Promise.resolve({ id: "robot" }) })],
    },
  });
  await using client = await server.open("", { "x-api-key": "key" });
  assertEquals(await begin(client, "mine"), "robot");
  assertEquals(await client.settle(), []);
  assertEquals(spy.listeners, 0);
});

Deno.test("Concurrent ends, unsubscribes and a closing socket leave nothing behind", async () => {
  const spy = spyStore();
  await using server = await startSessions({ session: { store: spy.store } });
  for (let round = 0; round < 40; round++) {
    const cookie = await server.signIn();
    const client = await server.open(cookie);
    for (const path of ["clock", "mine", "late"]) {
      client.send(subscribe(path, path));
    }
    if (round % 2 === 0) await client.take(3);
    const { auth } = server;
    const ends = [
      () => server.post("/sign-out", cookie),
      () => auth.revokeSessions("ada"),
      () => auth.revokeSessions("ada"),
      () => client.socket.close(),
      () => client.send({ type: "unsubscribe", id: "mine" }),
    ];
    await Promise.all(
      ends.slice(round % 3).toSorted(() => round % 5 - 2).map((end) => end()),
    );
    client.socket.close();
    await client.closed;
  }
  await until(() => server.log.running === 0 && spy.listeners === 0);
});

Deno.test("10,000 subscriptions of 10,000 sessions end with one revocation each", async () => {
  const log: Log = { running: 0, ended: 0 };
  const store = createMemorySessionStore({ maxSessions: 20_000 });
  const auth = createSessionsAuth({ session: { store } });
  const rpc = rpcPlugin({ router: createUserRouter(log) });
  const handler = rpc.getWebSocketConfig();
  const sent: string[] = [];
  const users = Array.from({ length: 10_000 }, (_, i) => `user ${i}`);
  const sockets = await Promise.all(users.map(async (user) => {
    const visitor = await auth.authenticate(new Request("http://localhost/"));
    await visitor.signIn("credentials", { user });
    const cookie = visitor.getCookieHeader()!.split(";")[0]!;
    const request = new Request("http://localhost/api/rpc", {
      headers: { cookie, upgrade: "websocket", connection: "upgrade" },
    });
    const ctx = await auth.authenticate(request);
    let socket: unknown;
    const upgrade = (_: Request, { data }: { data: WSConnectionData }) => {
      const send = (text: string) => sent.push(text);
      socket = { data, bufferedAmount: 0, readyState: 1, send, close() {} };
      return true;
    };
    assert(rpc.upgradeToWebSocket({ upgrade }, request, ctx));
    const message = JSON.stringify(subscribe("1", "clock"));
    handler.message(socket as never, message);
    return socket;
  }));
  await until(() => log.running === 10_000);
  sent.length = 0;
  for (const user of users) await auth.revokeSessions(user);
  await until(() => log.ended === 10_000);
  assertEquals(new Set(sent), new Set([JSON.stringify(ended("1"))]));
  assertEquals(sent.length, 10_000);
  for (const socket of sockets) handler.close!(socket as never, 1000, "");
  await auth.close();
});

for (
  const [name, isInProcedure] of [
    ["before the upgrade", false],
    ["in a procedure", true],
  ] as const
) {
  Deno.test(`auth.authenticate() ${name} ties subscriptions to its session, with a bare Deno.serve`, async () => {
    const log: Log = { running: 0, ended: 0 };
    const spy = spyStore();
    const auth = createSessionsAuth({ session: { store: spy.store } });
    const rpc = rpcPlugin({ router: createUserRouter(log, auth) });
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => {
        const url = new URL(request.url);
        if (url.pathname === "/sign-in") {
          const visitor = await auth.authenticate(request);
          await visitor.signIn("credentials", { user: "ada" });
          return new Response(null, {
            headers: { "set-cookie": visitor.getCookieHeader()! },
          });
        }
        const ctx = isInProcedure ? {} : await auth.authenticate(request);
        return rpc.handle(request, { get: () => ctx }) ??
          new Response(null, { status: 404 });
      },
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const response = await fetch(`${origin}/sign-in`);
    await response.body?.cancel();
    const cookie = response.headers.getSetCookie()[0]!.split(";")[0]!;
    const client = await connect({
      url: `${origin}/api/rpc`,
      headers: { cookie },
    });
    for (const path of ["clock", "again"]) await begin(client, path);
    if (!isInProcedure) await begin(client, "mine");
    await auth.revokeSessions("ada");
    const paths = isInProcedure ? ["again"] : ["clock", "again", "mine"];
    const messages = await client.take(paths.length);
    assertEquals(messages.map(({ id }) => id).toSorted(), paths.toSorted());
    for (const message of messages) assertEquals(message, ended(message.id));
    assertEquals(await client.settle(), []);
    await client[Symbol.asyncDispose]();
    await rpc.close?.();
    await server.shutdown();
    assertEquals(spy.listeners, 0);
    await auth.close();
  });
}

Deno.test("Sessions end subscriptions in Hono, with separately mounted plugins", async () => {
  const log: Log = { running: 0, ended: 0 };
  const auth = createSessionsAuth();
  const rpc = rpcPlugin({ router: createUserRouter(log) });
  const kit = toHono(auth);
  const app = new Hono();
  app.use(kit);
  app.post("/sign-in", async (c) => {
    await getAuth(c).signIn("credentials", { user: "ada" });
    return c.body(null);
  });
  app.use(async (c, next) => await rpc.handle(c.req.raw, c) ?? await next());
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    app.fetch,
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const response = await fetch(`${origin}/sign-in`, { method: "POST" });
  await response.body?.cancel();
  const cookie = response.headers.getSetCookie()[0]!.split(";")[0]!;
  const client = await connect({
    url: `${origin}/api/rpc`,
    headers: { cookie },
  });
  for (const path of ["clock", "mine"]) await begin(client, path);
  await auth.revokeSessions("ada");
  assertEquals(await client.next(), ended("mine"));
  assertEquals(await client.settle(), []);
  await client[Symbol.asyncDispose]();
  await rpc.close?.();
  await server.shutdown();
  await kit.close();
});

Deno.test("A callback for a watched session runs in a request of that session", async () => {
  const clock = createClock();
  const { store } = muteStore(clock.now);
  let roles = ["reader"];
  let isWatching = false;
  const seen: unknown[] = [];
  await using server = await startSessions({
    session: { store, updateAge: 10 },
    before(request, context, next) {
      context.set("name", request.headers.get("x-name"));
      return next();
    },
    auth: {
      now: clock.now,
      callbacks: {
        jwt: ({ token }) => Promise.resolve({ ...token, roles }),
        session({ session }) {
          const name = currentContext().get("name");
          // The requests that refresh have no name.
          if (isWatching && name) seen.push([session.userId, name]);
          return Promise.resolve(session);
        },
      },
    },
  });
  const cookies = new Map<string, string>();
  for (const name of ["ada", "bob"]) {
    cookies.set(name, await server.signIn(name));
  }
  await using ada = await server.open(cookies.get("ada"), { "x-name": "ada" });
  assertEquals(await begin(ada, "mine"), "ada");
  await using bob = await server.open(cookies.get("bob"), { "x-name": "bob" });
  assertEquals(await begin(bob, "mine"), "bob");
  roles = ["reader", "writer"];
  clock.pass(60);
  isWatching = true;
  await server.post("/refresh", cookies.get("bob")!);
  await until(() => seen.length > 0);
  assertEquals(seen, [["bob", "bob"]]);
});
