import { assert, assertEquals, assertRejects } from "@std/assert";
import { until } from "../data/store_contract.ts";
import { startFaultProxy } from "./fault_proxy.ts";

/** Starts a server that echoes what it receives. */
function startEcho() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      connections.push(connection.readable.pipeTo(connection.writable));
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      await Promise.allSettled(connections);
    },
  };
}

/** Opens a connection that collects what it receives. */
async function open(port: number) {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let received = "";
  let isOver = false;
  const reading = (async () => {
    const buffer = new Uint8Array(100);
    try {
      for (let size; (size = await connection.read(buffer)) !== null;) {
        received += new TextDecoder().decode(buffer.subarray(0, size));
      }
    } catch {
      // The proxy closed the connection.
    }
    isOver = true;
  })();
  return {
    get received() {
      return received;
    },
    get isOver() {
      return isOver;
    },
    send: (text: string) => connection.write(new TextEncoder().encode(text)),
    async [Symbol.asyncDispose]() {
      connection.close();
      await reading;
    },
  };
}

Deno.test("startFaultProxy() drops, holds back, delays and refuses as its mode says", async () => {
  await using server = await startEcho();
  await using proxy = startFaultProxy(server.port);
  await using first = await open(proxy.port);
  await first.send("a");
  await until(() => first.received === "a");

  proxy.set("silent");
  await first.send("b");
  await using second = await open(proxy.port);
  await second.send("c");
  await until(() => second.received === "c");
  proxy.set("forward");
  await first.send("d");
  await second.send("e");
  await until(() => second.received === "ce");
  assertEquals([first.received, first.isOver], ["a", false]);

  proxy.set("black hole");
  await using third = await open(proxy.port);
  await third.send("f");
  await second.send("g");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assertEquals([third.received, second.received], ["", "ce"]);
  proxy.set({ delay: 10 });
  await until(() => third.received === "f" && second.received === "ceg");

  assertEquals(proxy.connections, 3);
  proxy.cut();
  await until(() => first.isOver && second.isOver && third.isOver);
  await using fourth = await open(proxy.port);
  await fourth.send("h");
  await until(() => fourth.received === "h");

  proxy.set("refuse");
  await until(() => fourth.isOver);
  await assertRejects(() => open(proxy.port), Deno.errors.ConnectionRefused);
  proxy.set("forward");
  await using fifth = await open(proxy.port);
  await fifth.send("i");
  await until(() => fifth.received === "i");
});

Deno.test("startFaultProxy() forwards to another target on request, and closes if there is none", async () => {
  await using one = await startEcho();
  await using proxy = startFaultProxy(one.port);
  {
    await using other = await startEcho();
    proxy.target = other.port;
    await using connection = await open(proxy.port);
    await connection.send("a");
    await until(() => connection.received === "a");
    proxy.cut();
  }
  await using connection = await open(proxy.port);
  await until(() => connection.isOver);
  assert(connection.received === "");
});
