import { assertEquals } from "@std/assert";
import { createClient } from "@quartet/kit/rpc/client";
import type { router } from "./consumer/bun_plain.ts";
import type { RunningServer } from "./start_server.ts";

/** Uses everything that `consumer/bun_plain.ts` serves. */
export async function driveBun({ origin }: RunningServer): Promise<void> {
  assertEquals(await (await fetch(origin)).text(), "hello");
  const rpc = createClient<typeof router>({
    httpEndpoint: `${origin}/api/rpc`,
  });
  assertEquals(await rpc.greet.query(), "hello");
  const counted: number[] = [];
  for await (const n of rpc.count.subscribe()) counted.push(n);
  assertEquals(counted, [1, 2, 3]);
  // 20 MB: Bun drops messages if a socket buffers this much.
  let received = 0;
  for await (const text of rpc.flood.subscribe()) received += text.length;
  assertEquals(received, 5_000 * 4_096);
}
