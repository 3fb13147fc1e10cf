import { createAuthPlugin } from "@quartet/kit/auth";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { equal } from "node:assert/strict";
import { createClient } from "redis";

const [url] = Deno.args;
const client = createClient(url === undefined ? {} : { url });
const auth = createAuthPlugin({
  session: {
    secret: "a secret of at least thirty-two bytes",
    strategy: "hybrid",
    store: createRedisSessionStore({ client, prefix: "consumer:" }),
  },
});
if (url !== undefined) equal(await auth.revokeSessions("1"), 0);
await auth.close();

console.log("@quartet/kit/auth/redis works");
