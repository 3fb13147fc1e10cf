/**
 * A traced server for tests: `traced_server.ts <port>`.
 *
 * @module
 */

import { createApp, healthPlugin } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";

const app = createApp({
  trace: tracePlugin(createTracer(), { authorize: () => true }),
  plugins: [healthPlugin()],
  routes: [{ path: "/", loader: () => Deno.pid }],
});
const server = await app.serve({ port: Number(Deno.args[0]), onListen() {} });
console.log(`port ${server.address.port}`);
await server.finished;
console.log("writes: 0");
