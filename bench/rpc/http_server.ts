/**
 * Serves one of the peers, for `http.ts`. The first argument is its name.
 *
 * @module
 */

import { PEERS } from "./peers.ts";

const { fetch } = PEERS[Deno.args[0]!]!();
Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }) => console.log(port),
}, fetch);
