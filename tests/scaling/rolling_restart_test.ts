/**
 * The rolling restarts of `docs/scaling.md`, behind real proxies.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { unlessStalled } from "../stalls.ts";
import { findProgram, type Proxy, start } from "../trace/proxies.ts";
import { type Outcome, restartAll, startProcesses } from "./rolling.ts";
import { haproxy, nginx, shown } from "./scaling_page.ts";

const HAPROXY = findProgram("haproxy");
const NGINX = findProgram("nginx");

function test(
  name: string,
  program: string | undefined,
  fn: (program: string) => Promise<void>,
): void {
  const ignore = program === undefined;
  Deno.test({
    name: name + (ignore ? " (the proxy isn't installed)" : ""),
    ignore,
    fn: unlessStalled(() => fn(program!)),
  });
}

function originOf({ target }: Proxy): string {
  return `http://127.0.0.1:${target.port}`;
}

function assertNoneFailed(outcome: Outcome): void {
  const { failedReads, failedWrites, writes, requests } = outcome;
  assertEquals({ failedReads, failedWrites }, {
    failedReads: [],
    failedWrites: [],
  });
  assertEquals(writes.ran, writes.answered, "each write ran once");
  assert(requests > 100 && writes.ran > 10, "there was load");
}

const [checks = "", retries = ""] = shown("haproxy");

test(
  "Behind HAProxy with readiness checks, a rolling restart fails no request without retries",
  HAPROXY,
  async (program) => {
    await using processes = await startProcesses(2);
    await using proxy = await start(program, haproxy(checks, processes.ports));
    assertNoneFailed(await restartAll(processes, originOf(proxy)));
  },
);

const trying = checks.replace(
  "\nbackend kit\n",
  `\nbackend kit\n${retries}\n`,
);
const [nginxPage = ""] = shown("nginx");
const REFUSALS = ["POST /write 503 SHUTTING_DOWN", "POST /write 502"];

for (
  const { name, program, configure, refusals } of [
    {
      name: "HAProxy",
      program: HAPROXY,
      configure: haproxy.bind(null, trying),
      // HAProxy closes the client's connection if the server has closed one that
      // was to be reused.
      refusals: [...REFUSALS, "POST /write TypeError: fetch failed"],
    },
    {
      name: "nginx",
      program: NGINX,
      configure: nginx.bind(null, nginxPage),
      refusals: REFUSALS,
    },
  ]
) {
  test(
    `Behind ${name} with retries, a rolling restart without drain fails no GET, and no POST runs twice or unnoticed`,
    program,
    async (program) => {
      await using processes = await startProcesses(0);
      await using proxy = await start(program, configure(processes.ports));
      const outcome = await restartAll(processes, originOf(proxy));
      const { failedReads, failedWrites, writes } = outcome;
      assertEquals(failedReads, []);
      assertEquals(
        failedWrites.filter((failure) => !refusals.includes(failure)),
        [],
      );
      assertEquals(writes.ran, writes.answered, "the failed ones didn't run");
      assert(outcome.requests > 100 && writes.ran > 10);
    },
  );

  test(
    `Behind ${name} with retries, killing one process after another fails no GET`,
    program,
    async (program) => {
      await using processes = await startProcesses(0);
      await using proxy = await start(program, configure(processes.ports));
      const { failedReads, requests } = await restartAll(
        processes,
        originOf(proxy),
        processes.crash,
      );
      assertEquals(failedReads, []);
      assert(requests > 100);
    },
  );
}

const repeating = trying.replace(/http-request disable-l7-retry.*/, "");
const repeatingNginx = nginxPage.replace(
  "http_503;",
  "http_503 non_idempotent;",
);

for (
  const { name, program, configure } of [
    {
      name: "HAProxy",
      program: HAPROXY,
      configure: haproxy.bind(null, repeating),
    },
    {
      name: "nginx",
      program: NGINX,
      configure: nginx.bind(null, repeatingNginx),
    },
  ]
) {
  test(
    `Behind ${name} that also retries POSTs, a rolling restart without drain fails no request`,
    program,
    async (program) => {
      assert(repeating !== trying && repeatingNginx !== nginxPage);
      await using processes = await startProcesses(0);
      await using proxy = await start(program, configure(processes.ports));
      assertNoneFailed(await restartAll(processes, originOf(proxy)));
    },
  );
}

const OFF = nginxPage.replace(
  /proxy_next_upstream .*;/,
  "proxy_next_upstream off;",
);

test(
  "Behind nginx, a rolling restart without retries fails no request if each server is taken out first",
  NGINX,
  async (program) => {
    await using processes = await startProcesses(0);
    const { ports } = processes;
    let folder = "";
    let listen = 0;
    // One connection per request, because a reload closes idle ones.
    const page = OFF.replace("listen 80;", "listen 80; keepalive_timeout 0;");
    await using proxy = await start(program, (...place) => {
      [folder, , listen] = place;
      return nginx(page, ports)(...place);
    });

    /** Writes the file again, and waits until only new workers accept. */
    async function reload(down: number | undefined): Promise<void> {
      const file = down === undefined ? page : page.replace(
        `10.0.0.1${down + 1}:8000 fail_timeout=1s`,
        `10.0.0.1${down + 1}:8000 down`,
      );
      const path = `${folder}/proxy.conf`;
      const version = `v${crypto.randomUUID()}`;
      const { text, args } = nginx(
        file.replace(
          "location / {",
          `location = /version { return 200 ${version}; }\n  location / {`,
        ),
        ports,
      )(folder, path, listen);
      await Deno.writeTextFile(path, text);
      const { success } = await new Deno.Command(program, {
        args: [...args, "-s", "reload"],
      }).output();
      assert(success);
      const ask = async () =>
        await (await fetch(`${originOf(proxy)}/version`)).text();
      // Requests of old workers may still be running: they take 300 ms.
      for (
        let seen = 0;
        seen < 50;
        seen = await ask() === version ? seen + 1 : 0
      ) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    const outcome = await restartAll(
      processes,
      originOf(proxy),
      async (index) => {
        await reload(index);
        await processes.restart(index);
        await reload(undefined);
      },
    );
    assertNoneFailed(outcome);
  },
);

test(
  "Behind nginx without both, a rolling restart fails requests even with drain",
  NGINX,
  async (program) => {
    await using processes = await startProcesses(0.2);
    const file = OFF.replaceAll("fail_timeout=1s", "max_fails=0");
    await using proxy = await start(program, nginx(file, processes.ports));
    const { failedReads } = await restartAll(processes, originOf(proxy));
    assert(failedReads.length > 0, "otherwise the page may promise more");
  },
);
