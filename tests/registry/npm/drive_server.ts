import { assert, assertEquals, assertMatch } from "@std/assert";
import { createClient } from "@quartet/kit/rpc/client";
import type { router } from "./consumer/app.ts";
import type { RunningServer } from "./start_server.ts";

/** Uses everything that `consumer/app.ts` serves, as its pages would. */
export async function driveServer(server: RunningServer): Promise<void> {
  const { origin } = server;
  const cookie = await signIn(origin);
  await callProcedures(origin, cookie);
  await subscribe(server, cookie);
  await revalidate(origin);
  await lookAtTraces(server);
}

async function signIn(origin: string): Promise<string> {
  const post = (password: string) =>
    fetch(`${origin}/sign-in`, {
      method: "POST",
      body: JSON.stringify({ name: "ada", password }),
    });
  const refused = await post("wrong");
  assertEquals(refused.status, 401);
  await refused.body?.cancel();
  const signedIn = await post("engine");
  assertEquals(signedIn.status, 204);
  const [setCookie] = signedIn.headers.getSetCookie();
  // In production the cookie is for HTTPS only. NODE_ENV isn't production here.
  assert(!/; secure/i.test(setCookie!), setCookie);

  const anonymous = await fetch(`${origin}/me`);
  assertEquals(anonymous.status, 401);
  await anonymous.body?.cancel();
  const cookie = setCookie!.split(";")[0]!;
  const me = await fetch(`${origin}/me`, { headers: { cookie } });
  assertEquals((await me.json()).name, "ada");
  return cookie;
}

async function callProcedures(origin: string, cookie: string): Promise<void> {
  const rpc = createClient<typeof router>({
    httpEndpoint: `${origin}/api/rpc`,
    headers: { cookie },
  });
  assertEquals(await rpc.name.query(), "ada");
  assertEquals(await rpc.echo.mutate({ a: ["ü", 1] }), { a: ["ü", 1] });
}

/** Opens a socket with the given headers, such as a browser's cookie. */
function open(url: string, headers: Record<string, string>): WebSocket {
  return new WebSocket(url.replace("http", "ws"), { headers } as never);
}

async function subscribe(
  server: RunningServer,
  cookie: string,
): Promise<void> {
  const socket = open(`${server.origin}/api/rpc`, { cookie });
  const closed = new Promise((resolve) => socket.onclose = resolve);
  const messages: { id: string; type: string; data?: unknown }[] = [];
  const completed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  socket.onopen = () => {
    for (const id of ["count", "endless"]) {
      socket.send(JSON.stringify({ type: "subscribe", id, path: [id] }));
    }
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    messages.push(message);
    if (message.type === "complete") completed.resolve();
    if (message.data === "begun") begun.resolve();
  };
  await Promise.all([completed.promise, begun.promise]);
  assertEquals(
    messages.filter(({ id }) => id === "count").map(({ data }) => data),
    ["ada 1", "ada 2", "ada 3", undefined],
  );
  socket.close();
  await closed;
  // A disconnected client leaves no generator behind.
  while (!server.printed.includes("ended")) await pause();

  const foreign = open(`${server.origin}/api/rpc`, {
    cookie,
    origin: "https://evil.example",
  });
  const refused = new Promise((resolve) => foreign.onerror = resolve);
  const gone = new Promise((resolve) => foreign.onclose = resolve);
  await Promise.all([refused, gone]);
}

async function revalidate(origin: string): Promise<void> {
  const rpc = createClient<typeof router>({
    httpEndpoint: `${origin}/api/rpc`,
  });
  const computed = () => rpc.computed.query();
  assertEquals([await computed(), await computed()], [1, 1]);
  const post = (secret: string) =>
    fetch(`${origin}/revalidate`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ tags: ["computed"] }),
    });
  const refused = await post("guess");
  assertEquals(refused.status, 401);
  await refused.body?.cancel();
  assertEquals((await (await post("let me")).json()).success, true);
  assertEquals(await computed(), 2);
}

async function lookAtTraces(server: RunningServer): Promise<void> {
  const { origin } = server;
  const post = await fetch(`${origin}/posts/7`);
  assertEquals(await post.text(), "7");
  const id = post.headers.get("x-app-trace-id")!;
  assertMatch(id, /^[0-9a-f]{32}$/);

  const viewer = await fetch(`${origin}/__app/traces`);
  assertEquals(viewer.status, 200);
  assertMatch(await viewer.text(), /^<!DOCTYPE html>/);
  const traces = async (query: string) =>
    (await (await fetch(`${origin}/__app/traces/api?${query}`)).json()).traces;
  // The span ends after the last byte is sent, which may be after its arrival.
  let [trace] = await traces("path=/posts/7");
  while (trace === undefined) [trace] = await traces("path=/posts/7");
  assertEquals(trace.id, id);
  assertEquals(trace.metadata.routePattern, "/posts/:id");

  const live = new WebSocket(`${origin.replace("http", "ws")}/__app/traces/ws`);
  const closed = new Promise((resolve) => live.onclose = resolve);
  const reported = Promise.withResolvers<void>();
  live.onmessage = ({ data }) => {
    const { type, trace } = JSON.parse(data);
    if (type === "initial") fetch(`${origin}/posts/8`).then(drop);
    if (type === "trace:end" && trace.metadata.pathname === "/posts/8") {
      reported.resolve();
    }
  };
  await reported.promise;
  live.close();
  await closed;
  while (!/GET \/posts\/8\s+200/.test(server.printed)) await pause();
}

async function drop(response: Response): Promise<void> {
  await response.body?.cancel();
}

/** Waits briefly: output of another process emits no event to wait for. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
