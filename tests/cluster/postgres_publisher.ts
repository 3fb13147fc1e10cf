/**
 * A process that publishes numbers on a channel in Postgres, several at a time,
 * once it has received a byte. Arguments: address, schema, first and last
 * number.
 *
 * @module
 */

import { createPostgresChannel } from "@quartet/kit/rpc/postgres";
import pg from "pg";

const [url, schema, first, last] = Deno.args as [
  string,
  string,
  string,
  string,
];
await using channel = createPostgresChannel<number>({
  connect: () => new pg.Client(url),
  schema,
  name: "c",
  history: 10_000,
  timeout: 30,
});
await channel.ping();
console.log("ready");
await Deno.stdin.read(new Uint8Array(1));
for (let value = Number(first); value <= Number(last); value += 5) {
  // Separate statements: each starts when the previous one has been sent.
  await Promise.all(
    [0, 1, 2, 3, 4].map((i) => channel.publish(value + i)),
  );
}
console.log("done");
