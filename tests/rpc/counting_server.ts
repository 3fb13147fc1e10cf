/**
 * A server whose subscription continues counting where the client was, so that
 * a test detects lost and duplicate values. It runs as a child process, because
 * it is killed while it works.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin, tracked } from "@quartet/kit/rpc";

/** The router of the process. */
export const counting = createRouter({
  count: procedure.subscription(async function* ({ lastEventId, signal }) {
    for (let n = Number(lastEventId ?? -1) + 1; !signal.aborted; n++) {
      yield tracked(`${n}`, n);
      // One value per iteration of the event loop: fast, but it can be killed
      // in between.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }),
});

if (import.meta.main) {
  const app = createApp({ plugins: [rpcPlugin({ router: counting })] });
  await app.serve({
    port: Number(Deno.args[0]),
    onListen: ({ port }) => console.log(`port ${port}`),
  });
}
