/**
 * Processes of the app in `docs/scaling.md`, with the stores of one of its
 * sections.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { type Folder, makeFolder } from "../dev/dev_command.ts";
import { type Child, ROOT, startDeno } from "../helpers.ts";
import { createBrowser } from "../auth/browser.ts";
import { connect, subscribe } from "../rpc/helpers.ts";
import { section } from "./scaling_page.ts";

/** A running process of the shop. */
export interface Shop {
  readonly origin: string;
}

/** Two processes of the shop. */
export interface Shops extends AsyncDisposable {
  readonly a: Shop;
  readonly b: Shop;
  /**
   * Ends both with SIGTERM. Fails unless they close everything without output.
   */
  end(): Promise<void>;
}

/** Options that replace the page's address. */
const LISTEN =
  'port: 0, onListen: ({ port }) => console.log("Listening on " + port),';

const CLOCK = `
const { now } = Date;
Date.now = () => now() + Number(Deno.env.get("CLOCK_ERROR"));
`;

/**
 * Starts two processes.
 *
 * @param stores The code block that creates their stores.
 * @param clockError The error of the second one's clock, in milliseconds.
 */
export async function startShops(
  stores: string,
  env: Readonly<Record<string, string>> = {},
  clockError = 0,
): Promise<Shops> {
  await using stack = new AsyncDisposableStack();
  const folder: Folder = stack.use(await makeFolder());
  const [app = "", main = ""] = section("One app, any store");
  await folder.write("shop.ts", app);
  // Before anything reads the time.
  await folder.write("stores.ts", CLOCK + stores);
  const ours = main.replace('hostname: "0.0.0.0",', LISTEN)
    .replace("drain: 2", "drain: 0");
  assert(ours.includes(LISTEN) && ours.includes("drain: 0"));
  await folder.write("main.ts", ours);
  const config = new URL("deno.json", ROOT).pathname;
  const start = (error: number) =>
    stack.use(startDeno(
      ["run", "-A", "--no-check", "--config", config, "main.ts"],
      folder.path,
      { env: { ...env, CLOCK_ERROR: `${error}` } },
    ));
  const listening = async (child: Child): Promise<Shop> => {
    const [, port] = await child.printed(/Listening on (\d+)/);
    return { origin: `http://127.0.0.1:${port}` };
  };
  // One after the other: two processes can't create a file of Deno KV at once.
  const first = start(0);
  const a = await listening(first);
  const second = start(clockError);
  const b = await listening(second);
  const started = stack.move();
  return {
    a,
    b,
    async end() {
      for (const child of [first, second]) {
        child.kill("SIGTERM");
        assertEquals([await child.code, child.stderr], [0, ""]);
      }
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/**
 * Signs in at a process. Returns the cookie.
 *
 * @param address The client's address, as the proxy sends it.
 */
export async function signIn(
  { origin }: Shop,
  name = "ada",
  password = "engine",
  address = "192.0.2.1",
): Promise<{ readonly status: number; readonly cookie: string }> {
  const browser = createBrowser(origin);
  const { status, body } = await browser.ask("/sign-in", {
    body: { name, password },
    headers: { "x-real-ip": address },
  });
  await body?.cancel();
  const cookie = Array.from(
    browser.cookies,
    ([name, { value }]) => `${name}=${value}`,
  ).join("; ");
  return { status, cookie };
}

/** Returns the status of `/me` at a process. */
export async function statusOfMe(
  { origin }: Shop,
  cookie: string,
): Promise<number> {
  const response = await fetch(`${origin}/me`, { headers: { cookie } });
  await response.body?.cancel();
  return response.status;
}

/** Asserts that the processes share sessions and limits. */
export async function assertSharesSessionsAndLimits(
  { a, b }: Shops,
): Promise<void> {
  const { status, cookie } = await signIn(a);
  assertEquals(status, 200);
  assertEquals([await statusOfMe(a, cookie), await statusOfMe(b, cookie)], [
    200,
    200,
  ]);
  // Ten failures for an account and address.
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) {
    const shop = i % 2 === 0 ? a : b;
    statuses.push((await signIn(shop, "grace", "wrong")).status);
  }
  assertEquals(statuses.filter((status) => status === 429).length, 2);
  const elsewhere = await signIn(b, "grace", "engine", "198.51.100.1");
  assertEquals(elsewhere.status, 200, "other addresses aren't limited");
}

/** Returns the cached value of a process. */
export async function priceOf({ origin }: Shop): Promise<number> {
  const response = await fetch(`${origin}/price`);
  assertEquals(response.status, 200);
  return await response.json();
}

/** Asserts that values are computed once and invalidated in both processes. */
export async function assertSharesCache({ a, b }: Shops): Promise<void> {
  const first = await priceOf(a);
  assertEquals(await priceOf(b), first);
  const changed = await fetch(`${a.origin}/price`, { method: "POST" });
  assertEquals((await changed.json()).success, true);
  const second = await priceOf(a);
  assert(second !== first);
  while (await priceOf(b) !== second) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function statusOfPublish(
  { origin }: Shop,
  cookie: string,
): Promise<number> {
  const response = await fetch(`${origin}/api/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie },
    body: JSON.stringify({ path: ["publish"], type: "mutation" }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Asserts that the processes share messages and their limit. */
export async function assertSharesChannel({ a, b }: Shops): Promise<void> {
  await using socket = await connect({ url: `${b.origin}/api/rpc` });
  socket.send(subscribe("1", "news"));
  assertEquals((await socket.next()).type, "started");
  const { cookie } = await signIn(a);
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) {
    statuses.push(await statusOfPublish(i % 2 === 0 ? a : b, cookie));
  }
  assertEquals(statuses.filter((status) => status === 200).length, 10);
  assertEquals(statuses.filter((status) => status === 429).length, 2);
  assertEquals(await statusOfPublish(b, ""), 401);
  const other = await signIn(b, "eve");
  assertEquals(await statusOfPublish(a, other.cookie), 200);
  for (let received = 0; received < 11; received++) {
    const { type, data } = await socket.next();
    assertEquals([type, data], ["data", "hello"]);
  }
}
