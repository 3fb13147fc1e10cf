import { assertEquals, assertMatch } from "@std/assert";
import { createTracer, createTracesAPIHandler } from "@quartet/kit/trace";
import type { ConnectionInfo } from "@quartet/kit/app";

const LOOPBACK = tcp("127.0.0.1");

function tcp(hostname: string): ConnectionInfo {
  return { remoteAddr: { transport: "tcp", hostname, port: 50_000 } };
}

/** Requests the traces. Returns the status and the message of an error. */
async function ask(
  headers: Record<string, string>,
  info: ConnectionInfo | undefined = LOOPBACK,
  url = "http://localhost:8000/__app/traces/api",
): Promise<[number, string | undefined]> {
  const handler = createTracesAPIHandler(createTracer());
  const response = await handler(new Request(url, { headers }), info);
  const { error } = await response.json();
  if (error !== undefined) assertEquals(error.code, "FORBIDDEN");
  return [response.status, error?.message];
}

Deno.test("Requests from this machine with a local Host see the traces", async () => {
  for (
    const host of [
      "localhost",
      "localhost:8000",
      "LOCALHOST:8000",
      "app.localhost:8000",
      "127.0.0.1",
      "127.0.0.1:8000",
      "127.1.2.3:1",
      "[::1]",
      "[::1]:8000",
    ]
  ) {
    assertEquals(await ask({ host }), [200, undefined], host);
  }
});

Deno.test("A Host of another name is rejected, which prevents DNS rebinding", async () => {
  for (
    const host of [
      "evil.example",
      "evil.example:8000",
      "localhost.evil.example",
      "localhost.evil.example:8000",
      "127.0.0.1.evil.example",
      "evil-localhost",
      "evillocalhost:8000",
      "localhost:8000.evil.example",
      "localhost@evil.example",
      "128.0.0.1:8000",
      "127.0.0.256",
      "127.999.1.1:8000",
      "127.0.0.01",
      "0.0.0.0:8000",
      "192.168.0.1:8000",
      "[::2]:8000",
      "[::1].evil.example",
      "::1",
      // Not a valid host, whatever its ending.
      "::1:80",
      "::ffff:127.0.0.1",
      "evil.example/.localhost",
      "evil.example#.localhost",
      "evil@.localhost",
      ".localhost",
      "127.0.0.1:",
      "",
    ]
  ) {
    assertEquals((await ask({ host }))[0], 403, host);
  }
});

Deno.test("Without a Host header, the URL of the request counts", async () => {
  assertEquals((await ask({}))[0], 200);
  assertEquals(
    (await ask({}, LOOPBACK, "http://evil.example/__app/traces/api"))[0],
    403,
  );
});

Deno.test("An Origin must be the page's own server", async () => {
  const host = "localhost:8000";
  for (
    const [origin, status] of [
      ["http://localhost:8000", 200],
      ["https://localhost:8000", 200],
      ["http://localhost:8001", 403],
      ["http://localhost", 403],
      ["http://127.0.0.1:8000", 403],
      ["http://evil.example", 403],
      ["http://localhost:8000.evil.example", 403],
      ["http://evil.example/localhost:8000", 403],
      ["chrome-extension://localhost:8000", 403],
      ["null", 403],
      ["", 403],
    ] as const
  ) {
    assertEquals((await ask({ host, origin }))[0], status, origin);
  }
});

Deno.test("A request from another machine is rejected, whatever its headers", async () => {
  for (
    const address of ["192.168.0.7", "10.0.0.1", "8.8.8.8", "::2", "fe80::1"]
  ) {
    const [status, message] = await ask(
      { host: "localhost:8000", origin: "http://localhost:8000" },
      tcp(address),
    );
    assertEquals(status, 403);
    assertMatch(message!, /only shown to this machine/);
  }
});

Deno.test("Loopback connections of every kind are from this machine", async () => {
  const infos: ConnectionInfo[] = [
    tcp("127.0.0.1"),
    tcp("127.9.9.9"),
    tcp("::1"),
    tcp("::ffff:127.0.0.1"),
    { remoteAddr: { transport: "unix", path: "/run/app.sock" } },
  ];
  for (const info of infos) {
    assertEquals((await ask({ host: "localhost" }, info))[0], 200);
  }
  const other: ConnectionInfo = {
    remoteAddr: { transport: "vsock", cid: 2, port: 1 },
  };
  assertEquals((await ask({ host: "localhost" }, other))[0], 403);
});

Deno.test("A request of unknown origin is rejected with a message that explains what to do", async () => {
  for (const info of [undefined, {}]) {
    const handler = createTracesAPIHandler(createTracer());
    const response = await handler(new Request("http://localhost/"), info);
    assertEquals(response.status, 403);
    const { error } = await response.json();
    assertMatch(
      error.message,
      /the address of the client is unknown; pass the info of Deno\.serve to fetch\(\)\. To let others in, pass authorize/,
    );
  }
});

Deno.test("A rejection names the failed condition and how to allow other callers", async () => {
  const ADVICE =
    "To let others in, pass authorize, as in tracePlugin(tracer, { authorize })";
  for (
    const [headers, info, problem] of [
      [
        { host: "localhost" },
        tcp("172.17.0.1"),
        "this request comes from another machine or container",
      ],
      [
        { host: "shop.test" },
        LOOPBACK,
        "the host of this request isn't localhost or a loopback address",
      ],
      [
        { host: "localhost", origin: "http://shop.test" },
        LOOPBACK,
        "this request comes from a page of another origin",
      ],
      [
        { host: "localhost", "x-forwarded-for": "192.0.2.1" },
        LOOPBACK,
        "this request came through a proxy, as its header x-forwarded-for shows",
      ],
    ] as [Record<string, string>, ConnectionInfo, string][]
  ) {
    assertEquals(await ask(headers, info), [
      403,
      `Traces are only shown to this machine, and ${problem}. ${ADVICE}`,
    ]);
  }
});

Deno.test("authorize replaces the rule, sync or async, and receives request, connection and access", async () => {
  const request = new Request("http://evil.example/", {
    headers: { host: "evil.example", origin: "http://evil.example" },
  });
  const info = tcp("8.8.8.8");
  for (
    const [answer, status] of [
      [true, 200],
      [false, 403],
      [Promise.resolve(true), 200],
      [Promise.resolve(false), 403],
    ] as const
  ) {
    const calls: unknown[] = [];
    const handler = createTracesAPIHandler(createTracer(), {
      authorize(...args) {
        calls.push(...args);
        return answer;
      },
    });
    const response = await handler(request, info);
    await response.body?.cancel();
    assertEquals(response.status, status);
    assertEquals(calls, [request, info, "read"]);
  }
});

Deno.test("A real server answers curl and rejects a foreign Host", async () => {
  const handler = createTracesAPIHandler(createTracer());
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request, info) => handler(request, info),
  );
  const { port } = server.addr;

  async function status(host: string): Promise<string> {
    const connection = await Deno.connect({ port });
    await connection.write(new TextEncoder().encode(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    ));
    return (await new Response(connection.readable).text()).split("\r\n")[0]!;
  }

  assertEquals(await status(`127.0.0.1:${port}`), "HTTP/1.1 200 OK");
  assertEquals(await status("evil.example"), "HTTP/1.1 403 Forbidden");
  await server.shutdown();
});

Deno.test("A request through a proxy isn't from this machine", async () => {
  for (
    const name of [
      "forwarded",
      "cf-connecting-ip",
      "via",
      "x-forwarded-for",
      "x-forwarded-proto",
      "X-Forwarded-Host",
      "x-real-ip",
      "x-forwarded-port",
      "x-forwarded-server",
      "true-client-ip",
      "fly-client-ip",
      "x-client-ip",
      "cf-ray",
      "x-envoy-external-address",
      "x-original-url",
    ]
  ) {
    const [status] = await ask({ host: "localhost:8000", [name]: "127.0.0.1" });
    assertEquals(status, 403, name);
  }
});

Deno.test("A page of another site can link to the viewer, but not load it", async () => {
  const host = "localhost:8000";
  const site = { host, "sec-fetch-site": "cross-site" };
  for (const mode of ["no-cors", "cors", "websocket"]) {
    const [status] = await ask({ ...site, "sec-fetch-mode": mode });
    assertEquals(status, 403, mode);
  }
  assertEquals((await ask({ ...site, "sec-fetch-mode": "navigate" }))[0], 200);
  assertEquals((await ask({ host, "sec-fetch-site": "same-origin" }))[0], 200);
});
