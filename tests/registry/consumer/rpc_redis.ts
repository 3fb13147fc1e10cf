import { createRedisChannel } from "@quartet/kit/rpc/redis";
import { equal } from "node:assert/strict";
import { createClient } from "redis";

const [url] = Deno.args;
const client = createClient(url === undefined ? {} : { url });
const news = createRedisChannel<string>({ client, name: "consumer:news" });
if (url !== undefined) {
  const lastEventId = await news.publish("seen before");
  await news.publish("hello");
  const abort = new AbortController();
  for await (const { value } of news.subscribe(abort.signal, { lastEventId })) {
    equal(value, "hello");
    abort.abort();
  }
}
equal(news.subscribers, 0);
await news.close();

console.log("@quartet/kit/rpc/redis works");
