/**
 * Access to traces behind real proxies on the same machine, whose connections
 * all come from a loopback address.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  all,
  askForTraces,
  startTracedServer,
  type Statuses,
} from "./ask_for_traces.ts";
import {
  findProgram,
  type Proxy,
  startHAProxy,
  startNginx,
} from "./proxies.ts";

const UPGRADE = [
  "proxy_http_version 1.1;",
  "proxy_set_header Upgrade $http_upgrade;",
  'proxy_set_header Connection "upgrade";',
];
const FORWARDED = [
  "proxy_set_header Host $host;",
  "proxy_set_header X-Real-IP $remote_addr;",
  "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
  "proxy_set_header X-Forwarded-Proto $scheme;",
];

interface Case {
  readonly what: string;
  readonly program: "nginx" | "haproxy";
  readonly lines: readonly string[];
  /** Whether it adds headers that reveal a proxy. */
  readonly revealsItself: boolean;
  /** Whether sockets pass through it. */
  readonly upgrades: boolean;
}

const nginx = (
  what: string,
  lines: readonly string[],
  { revealsItself = false, upgrades = true } = {},
): Case => ({
  what: `nginx ${what}`,
  program: "nginx",
  lines,
  revealsItself,
  upgrades,
});
const haproxy = (
  what: string,
  lines: readonly string[],
  revealsItself = false,
): Case => ({
  what: `HAProxy ${what}`,
  program: "haproxy",
  lines,
  revealsItself,
  upgrades: true,
});

const CASES: readonly Case[] = [
  nginx("with a plain proxy_pass", [], { upgrades: false }),
  nginx("with HTTP/1.1 and upgrades", UPGRADE),
  nginx("with HTTP/1.0 and forwarded headers", FORWARDED, {
    revealsItself: true,
    upgrades: false,
  }),
  nginx("with HTTP/1.1, upgrades and forwarded headers", [
    ...UPGRADE,
    ...FORWARDED,
  ], { revealsItself: true }),
  haproxy("without options", []),
  haproxy("with option forwardfor", ["option forwardfor"], true),
  haproxy("with Forwarded", [
    "http-request set-header Forwarded for=%[src]",
  ], true),
];

/** Names that clients may use for the server. */
const HOSTS = ["shop.example", "localhost", "127.0.0.1"];

for (const { what, program, lines, revealsItself, upgrades } of CASES) {
  const path = findProgram(program);
  // Skipped if the proxy isn't installed.
  const ignore = path === undefined;
  const notice = ignore ? ` (${program} isn't installed)` : "";

  const start = (port: number): Promise<Proxy> =>
    program === "nginx"
      ? startNginx(path!, port, lines)
      : startHAProxy(path!, port, lines);

  /** Returns the expected statuses of a server that allows reads or posts. */
  const answers = (reads: boolean, writes: boolean): Statuses => ({
    viewer: reads ? 200 : 403,
    api: reads ? 200 : 403,
    ws: !reads ? 403 : upgrades ? 101 : 426,
    post: writes ? 202 : 403,
    wsClient: !writes ? 403 : upgrades ? 101 : 426,
    otlp: writes ? 200 : 403,
  });

  for (const mounting of ["plugin", "handlers"]) {
    Deno.test({
      name:
        `Behind ${what}, ${mounting} in production without authorize reject everything${notice}`,
      ignore,
      async fn() {
        const { child, port, traceId } = await startTracedServer({
          env: { DENO_ENV: "production" },
          args: [mounting],
        });
        await using _ = child;
        await using proxy = await start(port);
        for (const Host of HOSTS) {
          assertEquals(
            await askForTraces(proxy.target, { Host }, traceId),
            all(403),
            Host,
          );
        }
      },
    });

    Deno.test({
      name:
        `Behind ${what}, ${mounting} in production with authorize follow its decision${notice}`,
      ignore,
      async fn() {
        const { child, port, traceId } = await startTracedServer({
          env: { DENO_ENV: "production" },
          args: [mounting, "authorize"],
        });
        await using _ = child;
        await using proxy = await start(port);
        const Host = "shop.example";
        const admin = { Host, "x-user": "admin" };
        assertEquals(
          await askForTraces(proxy.target, admin, traceId),
          answers(true, true),
        );
        assertEquals(
          await askForTraces(proxy.target, { Host }, traceId),
          answers(false, true),
        );
      },
    });
  }

  Deno.test({
    name: `Behind ${what}, a server outside production ${
      revealsItself
        ? "rejects everything"
        : "can't detect a client that sends Host: localhost"
    }${notice}`,
    ignore,
    async fn() {
      const { child, port, traceId } = await startTracedServer({
        args: ["plugin"],
      });
      await using _ = child;
      await using proxy = await start(port);
      assertEquals(
        await askForTraces(proxy.target, { Host: "localhost" }, traceId),
        revealsItself ? all(403) : answers(true, true),
      );
    },
  });
}
