/** Calls in the trace tree of the terminal. */

import { assertEquals } from "@std/assert";
import {
  createChannel,
  createRouter,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
import {
  createCLIReporter,
  createTracer,
  tracePlugin,
} from "@quartet/kit/trace";
import { z } from "zod";
import { connect, serveRouter, subscribe, until } from "./helpers.ts";

const refuse = () => {
  throw new RPCError("CONFLICT", "Changed by somebody", 409);
};

Deno.test("The terminal shows why calls are refused, and how a subscription ended", async () => {
  const tracer = createTracer();
  let text = "";
  using _reporter = createCLIReporter(tracer, {
    write: (part) => text += part.replace(/ *\d+\.\d+ms/g, ""),
    color: false,
    width: 100,
  });
  const messages = createChannel();
  const router = createRouter({
    add: procedure.query(z.number(), () => "added"),
    conflict: procedure.query(refuse),
    changes: procedure.subscription(async function* () {
      yield await Promise.resolve(1);
      refuse();
    }),
    waiting: procedure.subscription(({ signal }) => messages.subscribe(signal)),
  });
  const trace = tracePlugin(tracer, { authorize: () => true });
  await using server = await serveRouter(router, {}, { trace });
  const printed = async (request: () => Promise<unknown>, line: string) => {
    text = "";
    await request();
    await until(() => text.includes(line));
  };
  await server.get("add", 1);
  await until(() => text !== "");
  assertEquals(text, "GET /api/rpc 200\n└─ rpc  rpc:add\n");
  await printed(
    () => server.get("add", "x"),
    "rpc:add refused: the input is invalid\n",
  );
  await printed(
    () => server.get("conflict"),
    "rpc:conflict refused: CONFLICT\n",
  );
  await printed(() => server.get("nothing"), "GET /api/rpc 404 NOT_FOUND\n");
  await using client = await connect(server);
  await printed(async () => {
    client.send(subscribe("a", "changes"));
    await client.take(2);
  }, "rpc:changes CONFLICT\n");
  await printed(async () => {
    client.send(subscribe("b", "waiting"));
    await client.settle();
    client.send({ type: "unsubscribe", id: "b" });
  }, "rpc:waiting unsubscribed\n");
});
