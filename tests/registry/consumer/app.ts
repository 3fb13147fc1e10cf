import { createApp, currentContext } from "@quartet/kit/app";
import { equal } from "node:assert/strict";

const app = createApp();
app.use((request, context, next) => {
  context.set("greeting", `hello ${new URL(request.url).hostname}`);
  return next();
});
app.route({
  path: "/cities/:name",
  loader: ({ params }) => `${currentContext()?.get("greeting")} ${params.name}`,
});

const server = await app.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: () => {},
});
const { hostname, port } = server.address;
const response = await fetch(`http://${hostname}:${port}/cities/Rome`);
equal(await response.json(), "hello 127.0.0.1 Rome");
await server.shutdown();

console.log("@quartet/kit/app works");
