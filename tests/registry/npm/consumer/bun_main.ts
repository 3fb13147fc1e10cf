import { toBun } from "@quartet/kit/app";
import process from "node:process";
import { app, close } from "./app.ts";
import { Bun } from "./bun.ts";

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, ...toBun(app) });
console.log(`Listening on ${server.port}`);

process.on("SIGTERM", async () => {
  await close();
  await server.stop();
  console.log("Closed");
});
