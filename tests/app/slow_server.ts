/**
 * A server for tests of shutdown by signals. `/slow` is answered only after a
 * signal, `/hang` never. Arguments: the seconds of `drain`, and `stuck` for a
 * plugin that never closes.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";

const signalled = Promise.withResolvers<void>();
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const onSignal = () => {
  for (const name of SIGNALS) Deno.removeSignalListener(name, onSignal);
  console.log("signalled");
  signalled.resolve();
};
for (const name of SIGNALS) Deno.addSignalListener(name, onSignal);

const [drain = "0", stuck] = Deno.args;
let closed = false;
const app = createApp({
  plugins: [{
    name: "resource",
    close() {
      closed = true;
      console.log("closed");
      if (stuck !== undefined) return new Promise(() => {});
    },
  }],
  routes: [
    {
      path: "/slow",
      async loader() {
        console.log("running");
        await signalled.promise;
        // Yields to the event loop several times, as a database query does.
        for (let i = 0; i < 5; i++) {
          await new Promise((resolve) => setTimeout(resolve));
        }
        return { closed };
      },
    },
    {
      path: "/hang",
      loader() {
        console.log("running");
        return new Promise(() => {});
      },
    },
  ],
});

await app.serve({ port: 0, drain: Number(drain), shutdownTimeout: 3_600 });
