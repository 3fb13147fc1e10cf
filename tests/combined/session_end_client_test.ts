/** The RPC client when the session of its socket ends. */

import { assert, assertEquals } from "@std/assert";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { until } from "../rpc/helpers.ts";
import {
  type createUserRouter,
  type SessionsServer,
  startSessions,
} from "./session_end.ts";

type API = ReturnType<typeof createUserRouter>;

/** Opens a browser's page, whose sockets send the browser's cookie. */
function openPage({ origin }: SessionsServer) {
  const page = { cookie: "", sockets: 0 };
  const rpc = createClient<API>({
    httpEndpoint: `${origin}/api/rpc`,
    reconnect: { delayMs: 1 },
    webSocket(url) {
      page.sockets++;
      // Browser types have no `headers` option.
      return new WebSocket(
        url,
        { headers: { cookie: page.cookie } } as never,
      );
    },
  });
  return Object.assign(page, { rpc });
}

Deno.test("A client continues with the session of a new sign-in, and public subscriptions never stop", async () => {
  await using server = await startSessions();
  const page = openPage(server);
  page.cookie = await server.signIn();
  const seen: string[] = [];
  const ends = [page.rpc.clock, page.rpc.mine].map((stream) =>
    stream.subscribe(undefined, { onData: (value) => seen.push(String(value)) })
  );
  await until(() => seen.length === 2);
  // The end of the old session and the new cookie arrive with one response.
  page.cookie = await server.signIn("bob", page.cookie);
  await until(() => seen.length === 3);
  assertEquals(seen.toSorted(), ["ada", "bob", "tick"]);
  for (const end of ends) end();
  await until(() => server.log.running === 0);
});

Deno.test("A subscription that starts on the socket of an ended session uses the new session", async () => {
  await using server = await startSessions();
  const page = openPage(server);
  page.cookie = await server.signIn();
  const seen: string[] = [];
  const onData = (value: unknown) => void seen.push(String(value));
  const endClock = page.rpc.clock.subscribe(undefined, { onData });
  await until(() => seen.length === 1);
  page.cookie = await server.signIn("bob", page.cookie);
  const endMine = page.rpc.mine.subscribe(undefined, { onData });
  await until(() => seen.length === 2);
  assertEquals([seen, page.sockets], [["tick", "bob"], 2]);
  endClock();
  endMine();
  await until(() => server.log.running === 0);
});

Deno.test("A client whose session is revoked reconnects once, then reports UNAUTHORIZED", async () => {
  await using server = await startSessions();
  const page = openPage(server);
  page.cookie = await server.signIn();
  const failed = Promise.withResolvers<Error>();
  const seen: unknown[] = [];
  page.rpc.mine.subscribe(undefined, {
    onData: (value) => seen.push(value),
    onError: failed.resolve,
  });
  await until(() => seen.length === 1);
  await server.auth.revokeSessions("ada");
  const error = await failed.promise;
  assert(error instanceof RPCClientError);
  assertEquals([error.code, error.message], ["UNAUTHORIZED", "Sign in first"]);
  assertEquals([page.sockets, server.log.running], [2, 0]);
});
