/** Deletes a session as another process: the database, then the id. */

import { createKvSessionStore } from "@quartet/kit/auth/kv";

const [path, id] = Deno.args;
using kv = await Deno.openKv(path);
await createKvSessionStore({ kv }).delete(id!);
