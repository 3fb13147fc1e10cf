import { assertEquals } from "@std/assert";
import {
  type Channel,
  createChannel,
  createRouter,
  procedure,
  tracked,
} from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import {
  experimental_streamedQuery as streamedQuery,
  QueryClient,
  QueryObserver,
} from "@tanstack/query-core";
import { serveBreakable } from "./breakable_server.ts";
import { until } from "./helpers.ts";

Deno.test("A streamed query restarts after a gap, so that its list is complete", async () => {
  let channel: Channel<number>;
  const list: number[] = [];
  const restart = () => channel = createChannel<number>();
  restart();
  const add = (n: number) => {
    list.push(n);
    return channel.publish(n);
  };
  const api = createRouter({
    list: procedure.subscription(async function* ({ signal, lastEventId }) {
      const added = channel.subscribe(signal, { lastEventId });
      if (lastEventId === undefined) yield* [...list];
      for await (const { id, value } of added) yield tracked(id, value);
    }),
  });
  await using server = await serveBreakable(api);
  const rpc = createClient<typeof api>({
    httpEndpoint: server.url,
    reconnect: { delayMs: 1 },
  });
  const client = new QueryClient();
  const queryKey = ["list"];
  const observer = new QueryObserver<number[]>(client, {
    queryKey,
    queryFn: streamedQuery({
      refetchMode: "reset",
      streamFn: ({ signal }) =>
        rpc.list.subscribe(undefined, {
          signal,
          onGap: () => void client.invalidateQueries({ queryKey }),
        }),
    }),
  });
  let shown: readonly number[] = [];
  const leave = observer.subscribe(({ data }) => shown = data ?? []);
  await add(1);
  await until(() => shown.length === 1);
  await add(2);
  await until(() => shown.length === 2);
  restart();
  server.breakSockets();
  await add(3);
  await until(() => shown.length === 3);
  await add(4);
  await until(() => shown.length === 4);
  assertEquals(shown, [1, 2, 3, 4]);
  leave();
  client.clear();
  await until(() => channel.subscribers === 0);
});
