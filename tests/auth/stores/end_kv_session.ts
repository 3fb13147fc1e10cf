/** Deletes a session from another process. Arguments: the database, the id. */

import { createKvSessionStore } from "@quartet/kit/auth/kv";

const [path, id] = Deno.args;
using kv = await Deno.openKv(path);
await createKvSessionStore({ kv }).delete(id!);
