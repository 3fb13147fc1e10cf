import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { SerializedTrace } from "@quartet/kit/trace";
import { join } from "node:path";
import { connectAssistant } from "../../dev/assistant.ts";
import type { Project } from "./project.ts";
import { type RunningServer, startServer } from "./start_server.ts";

/** The lines of the mistakes are part of the test. */
const ENTRY = `\
import { createCache } from "@quartet/kit/data";
import { traceQuery } from "@quartet/kit/trace";

const cache = createCache();
const rates = () =>
  cache.cached("rates", () => [1.1], { maxAge: 60, tags: ["bank"] });

export default {
  async fetch(request: Request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/books") {
      for (let id = 0; id < 12; id++) {
        traceQuery("SELECT * FROM book WHERE id = ?", () => id);
      }
    }
    if (pathname === "/capital") {
      throw new TypeError("Cannot read capital");
    }
    if (pathname === "/bank") await cache.revalidateTag("bank");
    await rates();
    return new Response("<!doctype html><title>Books</title>", {
      headers: { "content-type": "text/html" },
    });
  },
};
`;

/** More than a text of the terminal ever takes. */
const MAX_POLLS = 2_000;

/**
 * Checks that the dev command explains mistakes and the cache, shows the lines of
 * code, serves the panel and assistants, and keeps the traces of earlier runs.
 */
export async function assertCompanionWorks(
  { folder, program }: Project,
): Promise<void> {
  // Each entry has runs of its own, so the other apps have other names.
  await Deno.writeTextFile(join(folder, "companion.ts"), ENTRY);
  const args = [
    "node_modules/@quartet/kit/dev.js",
    "companion.ts",
    "--port",
    "0",
    "--trace",
  ];
  const causes = {
    "/books":
      /^ {3}! 12 × SELECT … FROM book WHERE id = \? companion\.ts:13 \(GET \/books\)$/m,
    "/capital":
      /^ {3}! TypeError: Cannot read capital companion\.ts:17 \(GET \/capital\)$/m,
    "/bank":
      /^└─ data .* cache\.get rates miss: tag bank was invalidated \d+ m?s ago by this request$/m,
  };
  {
    await using server = await startServer(program, folder, ...args);
    for (const [path, cause] of Object.entries(causes)) {
      await visit(server, path);
      await hasPrinted(server, cause);
    }
    await useParts(server);
    assertEquals(await server.stop(), 0, server.printed);
  }
  await using server = await startServer(program, folder, ...args);
  const { traces } = await ask(server, "api");
  const kept = traces.map(({ spans, metadata }) =>
    `${spans[0]!.name} of ${typeof metadata.run}`
  );
  assertEquals(kept, [
    "GET /page of number",
    "GET /bank of number",
    "GET /capital of number",
    "GET /books of number",
  ]);
}

async function visit({ origin }: RunningServer, path: string): Promise<string> {
  const headers = { "sec-fetch-dest": "document" };
  return await (await fetch(`${origin}${path}`, { headers })).text();
}

/** The parts of answers that are checked. */
interface Answer {
  readonly traces: readonly SerializedTrace[];
  readonly keys: readonly { readonly key: string }[];
}

async function ask({ origin }: RunningServer, route: string): Promise<Answer> {
  return await (await fetch(`${origin}/__app/traces/${route}`)).json();
}

/** Waits for a text, and fails with what was printed instead. */
async function hasPrinted(server: RunningServer, text: RegExp): Promise<void> {
  for (let i = 0; i < MAX_POLLS && !text.test(server.printed); i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assertMatch(server.printed, text);
}

async function useParts(server: RunningServer): Promise<void> {
  const { origin } = server;
  const url = `${origin}/__app/traces/mcp`;
  assertStringIncludes(
    server.printed,
    `Assistants   connect to ${url} by MCP over HTTP\n`,
  );
  await using assistant = await connectAssistant(new URL(url));
  assertMatch(await assistant.call("findings"), /companion\.ts:13/);

  const script = "/__app/traces/panel.js";
  assertStringIncludes(
    await visit(server, script),
    "customElements",
  );
  assertEquals(
    await visit(server, "/page"),
    `<!doctype html><script async src="${script}"></script><title>Books</title>`,
  );
  const { keys } = await ask(server, "cache");
  assertEquals(keys.map(({ key }) => key), ["rates"]);
}
