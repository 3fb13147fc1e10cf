/** Creates, refreshes and ends sessions as one of several processes. */

import { createKvSessionStore } from "@quartet/kit/auth/kv";
import { recordOf } from "./store_contract.ts";

const [path, name] = Deno.args;
using kv = await Deno.openKv(path);
const store = createKvSessionStore({ kv });
const expiresAt = Date.now() + 60_000;
await Promise.all(Array.from({ length: 100 }, async (_, i) => {
  const record = recordOf(`${name} ${i}`, `${name} ${i}`, { expiresAt });
  await store.set(record);
  await store.touch!(record);
  await store.delete(record.id);
}));
