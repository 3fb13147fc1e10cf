import { assert, assertEquals } from "@std/assert";
import { serializeTrace } from "@quartet/kit/trace";
import { stackInput } from "../input/stack.ts";
import type { StackInput, Visit } from "../input/stack.ts";
import { open, wrap } from "../stacks/hosts.ts";
import type { Opened } from "../stacks/hosts.ts";
import { createPages } from "../stacks/pages.ts";
import { createWorld, PASSWORD, SECRET } from "../stacks/world.ts";
import type { World } from "../stacks/world.ts";
import { defineTarget } from "../target.ts";

/** Combinations of hosts, modules, guards, caches and visitors. */
export const stacks = defineTarget(
  "stacks",
  "a response for one user never reaches another, guards hold, and no secret leaks",
  stackInput,
  () => ({
    async check(input) {
      const world = await createWorld();
      const { printed, restore } = listen();
      try {
        const ways = await visitAll(world, input);
        const traces = world.tracer.getTraces().map(serializeTrace);
        checkSecrets(world, JSON.stringify(traces), "a trace");
        checkSecrets(world, printed.join("\n"), "the log");
        return ways;
      } finally {
        restore();
      }
    },
  }),
);

/** Captures console output. */
function listen() {
  const { error, warn, log } = console;
  const printed: string[] = [];
  console.error = console.warn = console.log = (...args) =>
    printed.push(args.map((arg) => Deno.inspect(arg)).join(" "));
  return {
    printed,
    restore: () => Object.assign(console, { error, warn, log }),
  };
}

async function visitAll(world: World, input: StackInput): Promise<string> {
  const app = createPages(world, input);
  const fetch = input.layers.reduceRight(
    (inner, layer) => wrap(world, layer, inner),
    app.fetch as (request: Request) => Promise<Response>,
  );
  await using opened = await open(input.transport, fetch);
  const statuses = new Set<number>();
  let running: Promise<number>[] = [];
  for (const visit of input.visits) {
    running.push(makeVisit(world, opened, visit));
    if (visit.isHasty) continue;
    for (const status of await settled(running)) statuses.add(status);
    running = [];
  }
  for (const status of await settled(running)) statuses.add(status);
  await app.close();
  return statuses.has(200) ? "answered" : "refused";
}

/** Waits for all promises, so that none outlives its server. */
async function settled<T>(promises: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}

async function makeVisit(
  world: World,
  { origin, fetch }: Opened,
  visit: Visit,
): Promise<number> {
  const { who, by, path, method, cart } = visit;
  const headers = new Headers();
  const session = world.sessions[who];
  const cookies = cart === undefined ? [] : [`cart=${cart}`];
  if (session !== undefined && by === "cookie") cookies.push(session.cookie);
  if (session !== undefined && by === "bearer") {
    headers.set("authorization", `Bearer ${session.token}`);
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  const response = await fetch(new Request(origin + path, { method, headers }));
  const body = await response.text();
  checkBody(visit, response.status, body);
  const text = [body, ...[...response.headers].flat()].join("\n");
  checkSecrets(world, text, "a response");
  checkCaching(response, path);
  return response.status;
}

/** Checks the text of a page for a visitor. */
function checkBody(
  { who, path, method, cart }: Visit,
  status: number,
  body: string,
): void {
  const isKnown = who !== "anonymous";
  if (path === "/wrong" || path === "/fail") {
    assert(status >= 400, `${path} is answered by ${status}`);
    return;
  }
  if (method === "POST" && path !== "/news") return;
  if (status !== 200) {
    assert([401, 403, 303, 405].includes(status), `${path} failed: ${status}`);
    return;
  }
  const needsUser = path === "/account" || method === "POST";
  if (needsUser) assert(isKnown, `${path} is answered without a session`);
  if (path === "/admin") assertEquals(who, "ada", "only ada is an admin");
  if (method !== "GET") return;
  assertEquals(body, expectedBody(path, who, cart));
}

function expectedBody(
  path: Visit["path"],
  who: Visit["who"],
  cart: Visit["cart"],
): string {
  if (path === "/news") return "news";
  if (path === "/cart") return `cart:${cart ?? "none"}`;
  if (path === "/menu" || who === "anonymous") return "for:nobody";
  return `for:${who}`;
}

/** Checks that a response that a CDN would store is public. */
function checkCaching({ headers, status }: Response, path: string): void {
  const control = headers.get("cache-control") ?? "";
  if (!/public|s-maxage|max-age/.test(control) || status !== 200) return;
  assertEquals(
    headers.get("x-app-trace-id"),
    null,
    "a shared page has a trace",
  );
  // One page sets a wrong header, and one has a cookie that a CDN's own rules
  // would cover.
  if (path === "/public" || path === "/cart") return;
  assert(path === "/news" || path === "/menu", `${path} is ${control}`);
}

function checkSecrets(world: World, text: string, where: string): void {
  const secrets = [SECRET, PASSWORD];
  for (const { cookie, token } of Object.values(world.sessions)) {
    secrets.push(cookie.slice(cookie.indexOf("=") + 1), token);
  }
  for (const secret of secrets) {
    assert(!text.includes(secret), `${where} has a secret in it`);
  }
}
