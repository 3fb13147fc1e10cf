import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { exchange, freePort, ROOT } from "../helpers.ts";
import { addressOf, makeFolder, runDev, startDev } from "./dev_command.ts";
import type { Folder } from "./dev_command.ts";

const FETCHER = `export default {
  fetch: (request, info) =>
    new Response(
      [request.method, request.url, info.remoteAddr.hostname].join(" "),
    ),
  close() { console.log("closed"); },
};`;

/** The demo, with its database in memory. */
const ATLAS = `
  import { createAtlas } from "${new URL("examples/atlas/atlas.ts", ROOT)}";
  const atlas = createAtlas({ database: ":memory:" });
  export default {
    fetch: atlas.fetch,
    async close() {
      await atlas.close();
      console.log("closed");
    },
  };`;

async function folderWith(text: string): Promise<Folder> {
  const folder = await makeFolder();
  await folder.write("main.ts", text);
  return folder;
}

/** Sends a GET with exact headers, which \`fetch\` can't. */
function get(url: URL, path: string, headers: Record<string, string> = {}) {
  const lines = Object.entries({
    Host: url.host,
    Connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return exchange(
    Number(url.port),
    `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`,
  );
}

for (const trace of [[], ["--trace"]]) {
  const flags = trace.join("");

  Deno.test({
    name:
      `dev ${flags} needs only the permissions that the documentation lists`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using folder = await folderWith(FETCHER);
      const port = freePort();
      const permissions = [
        `--allow-net=127.0.0.1:${port}`,
        "--allow-read=.",
        "--no-prompt",
      ];
      const args = ["main.ts", "--port", String(port), ...trace];
      await using child = startDev(args, folder, permissions);
      const response = await fetch(await addressOf(child));
      assertEquals(response.status, 200);
      await response.body?.cancel();
      child.kill("SIGTERM");
      assertEquals(await child.code, 0);
      assertEquals(child.stderr, "");
    },
  });

  Deno.test(`dev ${flags} serves any object with a fetch method, on loopback only`, async () => {
    await using folder = await folderWith(FETCHER);
    await using child = startDev(["main.ts", "--port", "0", ...trace], folder);
    const url = await addressOf(child);
    assertEquals(url.hostname, "127.0.0.1");
    const response = await fetch(new URL("/a?b", url), { method: "PUT" });
    assertEquals(await response.text(), `PUT ${url}a?b 127.0.0.1`);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.test({
      name:
        `dev ${flags} exits with 0 on ${signal}, closes the entry and stops listening`,
      ignore: Deno.build.os === "windows",
      async fn() {
        await using folder = await folderWith(FETCHER);
        await using child = startDev(
          ["main.ts", "--port", "0", ...trace],
          folder,
        );
        const url = await addressOf(child);
        await (await fetch(url)).text();
        child.kill(signal);
        assertEquals(await child.code, 0);
        assertEquals(child.stdout.match(/^closed$/gm)?.length, 1);
        assertEquals(child.stderr, "");
        await assertRejects(
          () => Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) }),
          Deno.errors.ConnectionRefused,
        );
      },
    });
  }
}

Deno.test({
  name: "dev exits even if the entry left timers and connections behind",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await folderWith(
      `setInterval(() => {}, 1000);\n${FETCHER}`,
    );
    await using child = startDev(["main.ts", "--port", "0"], folder);
    await addressOf(child);
    child.kill("SIGINT");
    assertEquals(await child.code, 0);
  },
});

Deno.test("dev --port reports in one line that a port is in use", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr;
  await using folder = await folderWith(FETCHER);
  const outcome = await runDev(["main.ts", "--port", `${port}`], folder);
  assertEquals(outcome, {
    code: 1,
    stdout: "",
    stderr:
      `error: Cannot listen on port ${port}: it is in use; choose another one, or leave --port out\n`,
  });
});

Deno.test("dev uses the next free port if its default is in use, and says so", async () => {
  using _taken = holdDefaultPort();
  await using folder = await folderWith(FETCHER);
  await using child = startDev(["main.ts"], folder);
  const url = await addressOf(child);
  assert(Number(url.port) > 8000);
  assertEquals(
    child.stdout,
    `Port 8000 is in use, so this is port ${url.port}\nListening on ${url}\n`,
  );
  assertMatch(await (await fetch(url)).text(), /^GET /);
});

/** Takes port 8000, unless another program has it. */
function holdDefaultPort(): Disposable {
  try {
    return Deno.listen({ hostname: "127.0.0.1", port: 8000 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    return { [Symbol.dispose]() {} };
  }
}

Deno.test("dev --host reports in one line that it can't listen on the address", async () => {
  await using folder = await folderWith(FETCHER);
  const { code, stdout, stderr } = await runDev(
    ["main.ts", "--port", "0", "--host", "192.0.2.1"],
    folder,
  );
  assertEquals([code, stdout], [1, ""]);
  assertMatch(
    stderr,
    /^error: Cannot listen on 192\.0\.2\.1:0: (?!Cannot listen).+\n$/,
  );
});

Deno.test("dev --host 0.0.0.0 prints an address that a browser can open", async () => {
  await using folder = await folderWith(FETCHER);
  await using child = startDev(
    ["main.ts", "--port", "0", "--host", "0.0.0.0"],
    folder,
  );
  assertEquals((await addressOf(child)).hostname, "localhost");
});

Deno.test("dev without --trace runs none of the tracer's code", async () => {
  await using folder = await folderWith(ATLAS);
  await using child = startDev(["main.ts", "--port", "0"], folder);
  const url = await addressOf(child);
  for (const path of ["/", "/countries/FRA", "/nothing"]) {
    const response = await fetch(new URL(path, url));
    await response.body?.cancel();
    assertEquals(response.headers.get("x-app-trace-id"), null);
    assertEquals(response.headers.get("server-timing"), null);
  }
  for (const path of ["/__app/traces", "/__app/traces/api"]) {
    const response = await fetch(new URL(path, url));
    await response.body?.cancel();
    assertEquals(response.status, 404);
  }
  assertEquals(child.stdout, `Listening on ${url}\n`);
});

Deno.test("dev --trace prints a request's tree, and its API returns the same trace", async () => {
  await using folder = await folderWith(ATLAS);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = await addressOf(child);
  await child.printed(new RegExp(`^Traces at +${url}__app/traces$`, "m"));
  const response = await fetch(new URL("/countries/FRA", url));
  assertMatch(await response.text(), /<h1>🇫🇷 France<\/h1>/);

  const [tree] = await child.printed(
    /^GET \/countries\/FRA 200 [^]*?border\b.*$/m,
  );
  const lines = tree.split("\n").map((line) =>
    line.replace(/ +\d+(\.\d+)?(µs|ms|s) +/, " ")
  );
  assertMatch(lines[0]!, /^GET \/countries\/FRA 200 \d+(\.\d+)?(µs|ms|s)$/);
  assertEquals(lines.slice(1, 6), [
    "├─ auth auth:session anonymous",
    "├─ routing /countries/:code",
    "└─ data loader:/countries/:code",
    "   └─ data cache.get country:FRA miss: it was never computed",
    "      ├─ database SELECT * FROM country WHERE code = ?",
  ]);
  assertMatch(lines[6]!, /^ {6}└─ database SELECT .* FROM border/);

  const api = await fetch(new URL("/__app/traces/api", url));
  assertEquals(api.status, 200);
  const { traces } = await api.json();
  assertEquals(traces.length, 1);
  const [trace] = traces;
  assertEquals(trace.id, response.headers.get("x-app-trace-id"));
  assertEquals(trace.metadata.routePattern, "/countries/:code");
  assertEquals(trace.metadata.statusCode, 200);
  assertEquals(
    trace.spans.map(({ layer }: { layer: string }) => layer),
    ["request", "auth", "routing", "data", "data", "database", "database"],
  );
  await child.printed(
    new RegExp(
      `^   ${url}__app/traces#trace=${trace.id}&span=${trace.rootSpanId}$`,
      "m",
    ),
  );
  // Viewing the traces records none.
  assert(!child.stdout.includes("__app/traces/api"));
});

Deno.test("dev --trace names the trace in publicly cacheable responses too", async () => {
  await using folder = await folderWith(`export default {
    fetch: () =>
      new Response("", {
        headers: {
          "content-type": "text/css",
          "cache-control": "public, max-age=60",
        },
      }),
  };`);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const { body, headers } = await fetch(await addressOf(child));
  await body?.cancel();
  assertMatch(headers.get("server-timing")!, /^trace;desc=00-[0-9a-f]{32}-/);
});

Deno.test("dev --trace installs its tracer for the entry", async () => {
  await using folder = await folderWith(`
    import { getTracer } from "${new URL("trace/mod.ts", ROOT)}";
    export default {
      fetch: () => getTracer().withSpan("job", "custom", () => new Response()),
    };`);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const response = await fetch(await addressOf(child));
  await response.body?.cancel();
  // The entry's span is part of the request's trace.
  await child.printed(/^GET \/ 200 .*\n└─ custom .* job$/m);
});

Deno.test("dev --trace shows traces only to loopback clients and its own pages", async () => {
  await using folder = await folderWith(FETCHER);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = await addressOf(child);
  const api = "/__app/traces/api";
  const port = url.port;
  const cases: readonly (readonly [Record<string, string>, number])[] = [
    [{}, 200],
    [{ Host: `localhost:${port}` }, 200],
    [{ Origin: url.origin }, 200],
    [{ Host: "evil.example" }, 403],
    [{ Host: `evil.example:${port}` }, 403],
    [{ Host: "127.0.0.1.evil.example" }, 403],
    [{ Origin: "http://evil.example" }, 403],
    [{ Origin: "null" }, 403],
    [{ Origin: "http://127.0.0.1:1" }, 403],
  ];
  for (const [headers, status] of cases) {
    const answer = await get(url, api, headers);
    assertMatch(
      answer,
      new RegExp(`^HTTP/1.1 ${status} `),
      JSON.stringify(headers),
    );
    assertEquals(answer.includes('"traces"'), status === 200);
  }
  // The app itself is public.
  assertMatch(await get(url, "/", { Host: "evil.example" }), /^HTTP\/1.1 200 /);
});

Deno.test("dev --trace answers an error like an app, logs it once and prints its tree", async () => {
  await using folder = await folderWith(
    `export default { fetch() { throw new Error("hunter2"); } };`,
  );
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const response = await fetch(await addressOf(child));
  assertEquals(response.status, 500);
  assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
  assertMatch(response.headers.get("x-app-trace-id") ?? "", /^[0-9a-f]{32}$/);
  await child.printed(/^GET \/ 500 /m);
  child.kill("SIGTERM");
  await child.code;
  assertEquals(child.stdout.match(/GET \/ failed: Error: hunter2/g)?.length, 1);
  assertEquals(child.stderr, "");
});

Deno.test("dev --trace --export writes the traces on exit, also if closing the app fails", async () => {
  for (const close of ["", 'throw new Error("no")']) {
    await using folder = await folderWith(`
      import { withSpan } from "${new URL("trace/mod.ts", ROOT)}";
      export default {
        fetch: () => withSpan("work", "custom", () => new Response("x")),
        close() { Deno.chdir("/"); ${close} },
      };`);
    await using child = startDev(
      ["main.ts", "--port", "0", "--trace", "--export", "out.html"],
      folder,
    );
    const response = await fetch(new URL("/kept", await addressOf(child)));
    await response.body?.cancel();
    await child.printed(/^GET \/kept 200/m);
    child.kill("SIGINT");
    assertEquals(await child.code, close === "" ? 0 : 1);
    assertMatch(child.stdout, /^Wrote 1 trace to out\.html$/m);
    const html = await Deno.readTextFile(`${folder.path}/out.html`);
    assertMatch(html, /^<!doctype html>/i);
    // The line of a span that ended just before.
    assertMatch(html, /"code\.line\.number":4\b/);
  }
});

Deno.test("dev --export reports in one line that its file can't be written, before it serves", async () => {
  await using folder = await folderWith(FETCHER);
  const { code, stdout, stderr } = await runDev(
    ["main.ts", "--port", "0", "--trace", "--export", "none/out.html"],
    folder,
  );
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^error: Cannot write none\/out\.html: .+\n$/);
});

Deno.test("dev --export reports in one line that its file can't be written on exit", async () => {
  await using folder = await folderWith(FETCHER);
  await Deno.mkdir(`${folder.path}/out`);
  await using child = startDev(
    ["main.ts", "--port", "0", "--trace", "--export", "out/a.html"],
    folder,
  );
  await addressOf(child);
  await Deno.remove(`${folder.path}/out`);
  child.kill("SIGINT");
  assertEquals(await child.code, 1);
  assertMatch(child.stderr, /^error: Cannot write out\/a\.html: .+\n$/);
});
