/**
 * What `docs/limits.md` says of the runtime and of proxies.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { statusOf } from "../trace/ask_for_traces.ts";
import { findProgram, nginxFile } from "../trace/proxies.ts";
import { figure, shownFor, text } from "./limits_page.ts";

/** The figures for Deno are those of one version. */
const isMeasured = text.includes(`on Deno ${Deno.version.deno},`);

Deno.test({
  name: `Deno takes heads as the page says${
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

interface Check {
  readonly name: string;
  readonly args: (folder: string, file: string) => string[];
  readonly write: (folder: string) => string;
}

const CHECKS: readonly Check[] = [
  {
    name: "nginx",
    args: (
      folder,
      file,
    ) => ["-t", "-q", "-e", "stderr", "-p", folder, "-c", file],
    write: (folder) =>
      nginxFile(
        folder,
        // Who isn't root may not open port 80, which nginx tries.
        shownFor("nginx").replace(
          "listen 80;",
          `listen unix:${folder}/socket;`,
        ),
      ),
  },
  {
    name: "haproxy",
    args: (_folder, file) => ["-c", "-q", "-f", file],
    write: () => `${shownFor("haproxy")}\n`,
  },
];

for (const { name, args, write } of CHECKS) {
  const program = findProgram(name);
  const notice = program === undefined ? ` (${name} isn't installed)` : "";
  Deno.test({
    name: `${name} takes its file of the page${notice}`,
    ignore: program === undefined,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        const file = `${folder}/${name}.conf`;
        await Deno.writeTextFile(file, write(folder));
        const { code, stdout, stderr } = await new Deno.Command(program!, {
          args: args(folder, file),
        }).output();
        const decoder = new TextDecoder();
        const said = decoder.decode(stdout) + decoder.decode(stderr);
        assertEquals([code, said], [0, ""]);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
