/**
 * A server for tests: `server.ts <port> <drain>`.
 *
 * @module
 */

import { createApp, healthPlugin } from "@quartet/kit/app";

const [port, drain] = Deno.args.map(Number);
let writes = 0;

async function answer(): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return Response.json({ pid: Deno.pid, writes });
}

const app = createApp({
  plugins: [healthPlugin()],
  routes: [
    { path: "/", handler: answer },
    {
      path: "/write",
      action: () => {
        writes++;
        return answer();
      },
    },
    {
      path: "/slow",
      handler: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return await answer();
      },
    },
  ],
});

const server = await app.serve({ port: port!, drain: drain!, onListen() {} });
console.log(`port ${server.address.port}`);
await server.finished;
console.log(`writes: ${writes}`);
Deno.exit();
