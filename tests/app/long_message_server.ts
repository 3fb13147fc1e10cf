/** An echo server for `long_message_test.ts`. */

import { createUpgrader } from "@quartet/kit/app";

const echo = createUpgrader<undefined>({
  message: (ws, message) => ws.send(message as string),
});
Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }) => console.log(port),
}, (request, info) => {
  if (new URL(request.url).pathname === "/fail") {
    Promise.reject(new TypeError("not of a socket"));
    return new Response();
  }
  echo.upgrade(request, { data: undefined, info });
  return echo.response(request)!;
});
