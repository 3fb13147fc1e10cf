import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createClient } from "@quartet/kit/rpc/client";
import { join } from "node:path";
import { exchange } from "../../helpers.ts";
import { run } from "./command.ts";
import type { router } from "./consumer/bun_plain.ts";
import type { Project } from "./project.ts";
import { startServer } from "./start_server.ts";

const DEV = "node_modules/@quartet/kit/dev.js";

const ENTRY = `
import { withSpan } from "@quartet/kit/trace";

export default {
  fetch: (request) =>
    withSpan("echo", "custom", () => {
      console.log("asked for", { method: request.method });
      return new Response(request.body, {
        headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]],
      });
    }),
  close() { console.log("closed"); },
};
`;

/** Checks that the dev command serves and traces an app, and ends on SIGTERM. */
export async function assertDevWorks(
  { folder, program }: Project,
  flags: readonly string[],
): Promise<void> {
  await Deno.writeTextFile(join(folder, "dev_main.ts"), ENTRY);
  const options = ["--port", "0", "--trace", "--export", "out.html"];
  await using server = await startServer(
    program,
    folder,
    ...flags,
    DEV,
    "dev_main.ts",
    ...options,
  );
  const { origin } = server;
  await useApp(origin);
  await useViewer(origin);
  assertEquals(await server.stop(), 0, server.printed);
  assertMatch(
    server.printed,
    /^POST \/echo 200 .*\n└─ custom .* echo\n {6}info {2}asked for \{ method: ['"]POST['"] \}$/m,
  );
  assertMatch(server.printed, /^closed\nWrote 2 traces to out\.html$/m);
  const html = await Deno.readTextFile(join(folder, "out.html"));
  assertMatch(html, /^<!doctype html>/i);
  await assertRejects(() => fetch(origin), TypeError);
}

async function useApp(origin: string): Promise<void> {
  // Larger than the buffers of a connection.
  const body = "x".repeat(1 << 20);
  const echo = await fetch(`${origin}/echo`, { method: "POST", body });
  assertEquals(await echo.text(), body);
  assertEquals(echo.headers.getSetCookie(), ["a=1", "b=2"]);
  const head = await fetch(`${origin}/head`, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
}

async function useViewer(origin: string): Promise<void> {
  const viewer = await fetch(`${origin}/__app/traces`);
  assertStringIncludes(await viewer.text(), "<title>Traces</title>");
  const foreign = await fetch(`${origin}/__app/traces/api`, {
    headers: { origin: "http://evil.example" },
  });
  await foreign.body?.cancel();
  assertEquals(foreign.status, 403);

  const socket = new WebSocket(`${origin}/__app/traces/ws`);
  const message = Promise.withResolvers<void>();
  socket.onmessage = () => message.resolve();
  socket.onerror = () => message.reject(new Error("The socket failed"));
  await message.promise;
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
}

const BUN_ENTRY = `
import { createApp, toBun } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";

const router = createRouter({
  count: procedure.subscription(async function* () { yield 1; yield 2; }),
});
const app = createApp({ plugins: [rpcPlugin({ router })] });
app.route({
  path: "/",
  handler: (_request, { info }) => new Response(info.remoteAddr.hostname),
});
export default { port: 8000, ...toBun(app) };
`;

/** Checks that the dev command serves the file that Bun serves by itself. */
export async function assertDevServesBunFile(
  { folder, program }: Project,
): Promise<void> {
  await Deno.writeTextFile(join(folder, "bun_entry.ts"), BUN_ENTRY);
  const args = [DEV, "bun_entry.ts", "--port", "0"];
  await using server = await startServer(program, folder, ...args);
  assertEquals(await (await fetch(server.origin)).text(), "127.0.0.1");
  const rpc = createClient<typeof router>({
    httpEndpoint: `${server.origin}/api/rpc`,
  });
  const counted: number[] = [];
  for await (const n of rpc.count.subscribe()) counted.push(n);
  assertEquals(counted, [1, 2]);
}

/** Checks that a connection goes on after a body that the app doesn't read. */
export async function assertConnectionGoesOn(
  { folder, program }: Project,
): Promise<void> {
  await Deno.writeTextFile(
    join(folder, "dev_unread.js"),
    "export default { fetch: () => new Response() };",
  );
  const options = ["dev_unread.js", "--port", "0"];
  await using server = await startServer(program, folder, DEV, ...options);
  const { host, port } = new URL(server.origin);
  // Larger than the buffers of a connection.
  const body = "x".repeat(1 << 20);
  const answer = await exchange(
    Number(port),
    `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n${body}` +
      `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  assertEquals(answer.match(/^HTTP\/1\.1 200 /gm)?.length, 2);
}

/** Checks that the error of a body that has begun isn't lost. */
export async function assertBodyFailureIsPrinted(
  { folder, program }: Project,
): Promise<void> {
  await Deno.writeTextFile(
    join(folder, "dev_body.js"),
    `const body = () => new ReadableStream({
      pull() { throw new Error("no more rows"); },
    });
    export default { fetch: () => new Response(body()) };`,
  );
  const options = ["dev_body.js", "--port", "0"];
  await using server = await startServer(program, folder, DEV, ...options);
  await assertRejects(async () => await (await fetch(server.origin)).text());
  assertEquals(await server.stop(), 0, server.printed);
  assertMatch(server.printed, /Error: no more rows|error: no more rows/);
}

/** Checks the errors of the dev command. */
export async function assertDevReports(
  { folder, program }: Project,
): Promise<void> {
  const dev = (...args: string[]) =>
    run(program, [DEV, ...args], { cwd: folder });
  await Deno.writeTextFile(
    join(folder, "dev_throws.js"),
    'throw new RangeError("no database");',
  );
  const thrown = await dev("dev_throws.js");
  assertEquals(thrown.code, 1);
  assertMatch(
    thrown.stderr,
    /^error: Cannot load dev_throws\.js: it threw RangeError: no database \(at dev_throws\.js:1:\d+\)\n$/,
  );
  await Deno.writeTextFile(join(folder, "dev_part.js"), "export const a = ;");
  await Deno.writeTextFile(
    join(folder, "dev_syntax.js"),
    'import "./dev_part.js";',
  );
  const unparsed = await dev("dev_syntax.js", "--trace");
  assertEquals(unparsed.code, 1);
  assertMatch(unparsed.stderr, /[\\/]dev_part\.js:1\b/);
  await Deno.writeTextFile(join(folder, "dev_main.ts"), ENTRY);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const inUse = await dev("dev_main.ts", "--port", `${listener.addr.port}`);
  assertEquals(inUse.code, 1);
  assertMatch(inUse.stderr, /^error: Cannot listen on port \d+: it is in use/);
}
