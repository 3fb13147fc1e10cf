import { createAuthPlugin } from "@quartet/kit/auth";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import { equal } from "node:assert/strict";

using kv = await Deno.openKv(":memory:");
const auth = createAuthPlugin({
  session: {
    secret: "a secret of at least thirty-two bytes",
    strategy: "hybrid",
    store: createKvSessionStore({ kv }),
  },
});
equal(await auth.revokeSessions("1"), 0);

console.log("@quartet/kit/auth/kv works");
