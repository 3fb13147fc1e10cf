/**
 * Browser spans behind a proxy, as `docs/scaling.md` routes them.
 *
 * @module
 */

import type { SerializedTrace } from "@quartet/kit/trace";
import { assert, assertEquals } from "@std/assert";
import { findProgram, start } from "../trace/proxies.ts";
import { startProcesses } from "./rolling.ts";
import { haproxy, nginx, shown } from "./scaling_page.ts";

/**
 * Opens a page and posts a browser span.
 *
 * @returns Whether a process has both in one trace.
 */
async function postSpan(
  origin: string,
  ports: readonly number[],
): Promise<boolean> {
  const page = await fetch(origin);
  await page.body?.cancel();
  assertEquals(page.status, 200);
  const cookie = page.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const startTime = Date.now();
  const traceId = page.headers.get("x-app-trace-id");
  const response = await fetch(`${origin}/__app/traces/api`, {
    method: "POST",
    headers: { cookie, "content-type": "text/plain" },
    body: JSON.stringify({
      type: "client:spans",
      traceId,
      spans: [{
        id: "00f067aa0ba902b7",
        name: "hydrate:Cart",
        startTime,
        endTime: startTime + 1,
      }],
    }),
  });
  assertEquals((await response.json()).added, 1);
  const found = await Promise.all(ports.map(async (port) => {
    const query = `traceId=${traceId}&layer=request`;
    const api = `http://127.0.0.1:${port}/__app/traces/api?${query}`;
    const { traces } = await (await fetch(api)).json();
    const names = traces.flatMap(({ spans }: SerializedTrace) =>
      spans.map(({ name }) => name)
    );
    return names.includes("hydrate:Cart");
  }));
  return found.includes(true);
}

const [checks = "", , cookies = ""] = shown("haproxy");
const withCookies = checks.replace(/( *server \w .*\n?)+$/, cookies);
const [nginxPage = ""] = shown("nginx");

for (
  const { name, place, configure, isKept } of [
    {
      name: "haproxy",
      place: "with the page's cookies",
      configure: (ports: readonly number[]) => haproxy(withCookies, ports),
      isKept: true,
    },
    {
      name: "haproxy",
      place: "without cookies",
      configure: (ports: readonly number[]) => haproxy(checks, ports),
      isKept: false,
    },
    {
      name: "nginx",
      place: "with ip_hash",
      configure: (ports: readonly number[]) =>
        nginx(nginxPage.replace("least_conn;", "ip_hash;"), ports),
      isKept: true,
    },
  ]
) {
  const program = findProgram(name);
  const ignore = program === undefined;
  Deno.test({
    name: `Behind ${name} ${place}, ${
      isKept ? "all" : "not all"
    } spans of browsers find their trace${ignore ? " (not installed)" : ""}`,
    ignore,
    async fn() {
      await using processes = await startProcesses(0, "traced_server.ts");
      await using proxy = await start(program!, configure(processes.ports));
      const origin = `http://127.0.0.1:${proxy.target.port}`;
      const joined: boolean[] = [];
      for (let i = 0; i < 9; i++) {
        joined.push(await postSpan(origin, processes.ports));
      }
      assert(!isKept || cookies.includes("cookie kit"));
      assertEquals(joined.every(Boolean), isKept);
    },
  });
}
