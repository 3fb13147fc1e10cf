import { serve } from "@hono/node-server";
import { toNode } from "@quartet/kit/app";
import process from "node:process";
import { WebSocketServer } from "ws";
import { app, close } from "./app.ts";

const webSocketServer = new WebSocketServer({ noServer: true });
const { fetch, upgrade } = toNode(app, { webSocketServer });
const server = serve(
  { fetch, hostname: "127.0.0.1", port: 0 },
  ({ port }) => console.log(`Listening on ${port}`),
);
server.on("upgrade", upgrade);

process.on("SIGTERM", async () => {
  await close();
  server.close(() => console.log("Closed"));
});
