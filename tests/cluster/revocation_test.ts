import { assert, assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { useCookieSockets } from "../soak/cookie_sockets.ts";
import { percentile } from "../soak/traffic.ts";
import { unlessStalled } from "../stalls.ts";
import { startKit, startOrigin, visit } from "./kit_process.ts";
import { eventually } from "./redis_topology.ts";
import { show } from "./several_kits.ts";

/** Number of users. Each has a session and a socket. */
const USERS = 101;
/** Subscriptions on each socket. */
const SUBSCRIPTIONS = 10;

/** A socket with subscriptions, and the time when each of them ended. */
interface Member {
  readonly socket: WebSocket;
  readonly values: unknown[];
  readonly ends: { readonly code: string; readonly at: number }[];
}

/** Opens a socket and subscribes. */
async function subscribe(url: string): Promise<Member> {
  const socket = new WebSocket(url);
  const member: Member = { socket, values: [], ends: [] };
  socket.onmessage = ({ data }) => {
    const { type, error, data: value } = JSON.parse(data);
    if (type === "data") member.values.push(value);
    if (type !== "error") return;
    member.ends.push({ code: error.code, at: performance.now() });
  };
  await new Promise((resolve) => socket.onopen = resolve);
  for (let i = 0; i < SUBSCRIPTIONS; i++) {
    const message = { type: "subscribe", id: `${i}`, path: ["mine"] };
    socket.send(JSON.stringify(message));
  }
  return member;
}

Deno.test({
  name: needsRedis(
    "Revocation in one process ends 1,000 subscriptions in another, 99 % of them within a second, and no others",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using origin = startOrigin();
    using sockets = useCookieSockets();
    const options = { place: { url: redis.url }, origin: origin.origin };
    await using one = await startKit(options);
    await using other = await startKit(options);
    await using stack = new AsyncDisposableStack();

    const members: Member[] = [];
    using admin = visit(one, sockets);
    for (let i = 0; i < USERS; i++) {
      using visitor = visit(one, sockets);
      await visitor.post("/sign-in", { name: `user${i}` });
      const url = `${other.origin}/api/rpc`;
      const member = await subscribe(sockets.withCookie(url, visitor.cookie));
      stack.defer(async () => {
        const closed = new Promise((resolve) =>
          member.socket.onclose = resolve
        );
        member.socket.close();
        await closed;
      });
      members.push(member);
    }
    admin.origin = other.origin;
    await eventually(
      "all are subscribed",
      async () => (await admin.figures()).subscribers === USERS * SUBSCRIPTIONS,
    );
    admin.origin = one.origin;

    const last = members.pop()!;
    const times: number[] = [];
    for (const [i, member] of members.entries()) {
      const start = performance.now();
      const { body } = await admin.post("/revoke", { name: `user${i}` });
      assertEquals(body, { count: 1 });
      await eventually(
        "its subscriptions have ended",
        () => member.ends.length === SUBSCRIPTIONS,
      );
      for (const { code, at } of member.ends) {
        assertEquals(code, "UNAUTHORIZED");
        times.push(at - start);
      }
    }
    times.sort((a, b) => a - b);
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) =>
      Math.round(percentile(times, share))
    );
    show("revocation", { subscriptions: times.length, p50, p99, most });
    assert(p99! < 1_000, `p99 is ${p99} ms`);

    await admin.rpc.publish.mutate(1);
    await eventually(
      "the last user's subscriptions go on",
      () => last.values.length === SUBSCRIPTIONS,
    );
    assertEquals(last.ends, []);
    assertEquals(members.flatMap(({ values }) => values), []);
  }),
});
