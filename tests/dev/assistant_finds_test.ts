/**
 * Four mistakes planted in Atlas, and found with the tools for assistants alone.
 *
 * @module
 */

import { assert, assertMatch, assertStringIncludes } from "@std/assert";
import { addressOf, makeFolder, startDev } from "./dev_command.ts";
import { connectAssistant } from "./assistant.ts";
import { PLANTED_PATHS, plantedApp, plantedLine } from "./planted_app.ts";

const RULES = ["repeated-query", "slow-query", "idle-cache", "exception"];

Deno.test("An assistant finds a repeated query, a slow query, an idle cache and an exception in Atlas, with their lines", async () => {
  await using folder = await makeFolder();
  await plantedApp(folder);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = await addressOf(child);
  for (let i = 0; i < 12; i++) {
    for (const path of ["/", ...PLANTED_PATHS]) {
      // A statement that is slow every time needs to be seen twice.
      if (path === "/planted/report" && i > 2) continue;
      await (await fetch(new URL(path, url))).text();
    }
  }
  for (const rule of RULES) {
    await child.printed(new RegExp(`^ +! .* ${plantedLine(rule)}\\b`, "m"));
  }

  await using assistant = await connectAssistant(
    new URL("/__app/traces/mcp", url),
  );
  assertMatch(await assistant.call("summary"), /\d+ findings: call findings/);
  for (const rule of RULES) {
    const found = await assistant.call("findings", { rule });
    const line = plantedLine(rule);
    assertMatch(found, /^1 finding, /);
    assertMatch(found, new RegExp(`^- ${rule}: .* ${line}$`, "m"));
    const [, id] = /get_trace id ([\da-f]{32})/.exec(found)!;
    const trace = await assistant.call("get_trace", { id });
    assertStringIncludes(trace, line);
    assertMatch(trace, /log info: planted \/planted\/\w+/);
  }
  const errors = await assistant.call("recent_errors");
  assertStringIncludes(
    errors,
    `RangeError: no such country ${plantedLine("exception")}`,
  );
  const slow = await assistant.call("slow_routes", { route: "/planted" });
  assert(slow.indexOf("/report") < slow.indexOf("/flags"), slow);
});
