/**
 * A server whose subscription counts on from where the client was, so that a
 * test sees what a break lost or doubled. Started as a process of its own,
 * because it is killed in the middle of its work.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin, tracked } from "@quartet/kit/rpc";

/** What the process serves. */
export const counting = createRouter({
  count: procedure.subscription(async function* ({ lastEventId, signal }) {
    for (let n = Number(lastEventId ?? -1) + 1; !signal.aborted; n++) {
      yield tracked(`${n}`, n);
      // A value a turn: fast, and with time to be killed in between.
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
