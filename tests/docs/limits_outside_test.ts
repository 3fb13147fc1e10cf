/**
 * Tests of the statements in `docs/limits.md` about the runtime and proxies.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createUpgrader } from "@quartet/kit/app";
import { handshake } from "../helpers.ts";
import { statusOf } from "../trace/ask_for_traces.ts";
import { findProgram, nginxFile, start } from "../trace/proxies.ts";
import { figure, shownFor, text } from "./limits_page.ts";

/** The figures for Deno apply to one version. */
const isMeasured = text.includes(`on Deno ${Deno.version.deno},`);

Deno.test({
  name: `Deno limits request heads as docs/limits.md states${
    isMeasured ? "" : ` (measured on another Deno than ${Deno.version.deno})`
  }`,
  ignore: !isMeasured,
  async fn() {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () => new Response(),
    );
    const target = { hostname: "127.0.0.1", port: server.addr.port };
    const start = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    const ask = (headers: string) => statusOf(target, `${start}${headers}\r\n`);
    const some = (count: number) =>
      Array.from({ length: count }, (_, i) => `x${i}: y\r\n`).join("");

    const count = figure("number of headers, Deno, HTTP/1");
    assertEquals(await ask(some(count - 2)), 200);
    assertEquals(await ask(some(count - 1)), 400);

    const size = figure("head of a request, Deno, HTTP/1");
    const pad = (length: number) =>
      `x: ${"y".repeat(length - start.length - 7)}\r\n`;
    assertEquals(await ask(pad(size)), 200);
    assertEquals(await ask(pad(size + 1024)), 400);
  },
});

interface ShownProxy {
  readonly name: string;
  /** Arguments to check a configuration file. */
  readonly check: (folder: string, file: string) => string[];
  /** Arguments to start the program with a file. */
  readonly run: (folder: string, file: string) => string[];
  /** Returns the page's file with other addresses. */
  readonly write: (folder: string, listen: string, upstream: number) => string;
}

const PROXIES: readonly ShownProxy[] = [
  {
    name: "nginx",
    check: (
      folder,
      file,
    ) => ["-t", "-q", "-e", "stderr", "-p", folder, "-c", file],
    run: (folder, file) => ["-e", "stderr", "-p", folder, "-c", file],
    write: (folder, listen, upstream) =>
      nginxFile(
        folder,
        shownFor("nginx").replace("listen 80;", `listen ${listen};`)
          .replace("127.0.0.1:8000", `127.0.0.1:${upstream}`),
      ),
  },
  {
    name: "haproxy",
    check: (_folder, file) => ["-c", "-q", "-f", file],
    run: (_folder, file) => ["-db", "-q", "-f", file],
    write: (_folder, listen, upstream) =>
      shownFor("haproxy").replace("bind :80", `bind ${listen}`)
        .replace("127.0.0.1:8000", `127.0.0.1:${upstream}`) + "\n",
  },
];

for (const { name, check, run, write } of PROXIES) {
  const program = findProgram(name);
  const ignore = program === undefined;
  const notice = ignore ? ` (${name} isn't installed)` : "";

  Deno.test({
    name:
      `${name} accepts its file from docs/limits.md without a warning${notice}`,
    ignore,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        const file = `${folder}/${name}.conf`;
        // nginx opens the port, and only root may open port 80.
        await Deno.writeTextFile(file, write(folder, "127.0.0.1:8080", 8000));
        const { code, stdout, stderr } = await new Deno.Command(program!, {
          args: check(folder, file),
        }).output();
        const decoder = new TextDecoder();
        const said = decoder.decode(stdout) + decoder.decode(stderr);
        assertEquals([code, said], [0, ""]);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });

  Deno.test({
    name:
      `${name} with its file of the page lets 50 sockets of an address through, and no body over 1 MiB${notice}`,
    ignore,
    async fn() {
      const upgrader = createUpgrader<undefined>({ message() {} });
      await using server = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen() {} },
        (request) => {
          upgrader.upgrade(request, { data: undefined });
          return upgrader.response(request) ?? new Response("the app");
        },
      );
      await using proxy = await start(program!, (folder, file, listen) => ({
        args: run(folder, file),
        text: write(folder, `127.0.0.1:${listen}`, server.addr.port),
      }));
      const post = (length: number) =>
        statusOf(
          proxy.target,
          `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${
            length > 1024 ? "" : "x".repeat(length)
          }`,
        );
      assertEquals(await post(1024), 200);
      assertEquals(await post(1024 * 1024 + 1), 413);

      const sockets: Deno.Conn[] = [];
      // The proxy may still count earlier connections.
      while (upgrader.size < 50) {
        const connection = await Deno.connect(proxy.target);
        await connection.write(new TextEncoder().encode(handshake()));
        await connection.read(new Uint8Array(4096));
        sockets.push(connection);
        assert(sockets.length < 60);
      }
      assertEquals(await statusOf(proxy.target, handshake()), 429);
      for (const socket of sockets) socket.close();
      while (upgrader.size > 0) await new Promise((done) => setTimeout(done));
    },
  });
}
