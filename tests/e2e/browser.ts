/**
 * A real browser for tests, and pages that record errors and requests.
 *
 * It uses the browser in `CHROME_PATH`, else an installed Chromium or Chrome,
 * else the one in the npm package `@sparticuz/chromium`, which has no other
 * requirements.
 *
 * @module
 */

import { chromium } from "playwright-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { findBundledBrowser } from "./bundled_browser.ts";

export type { Page } from "playwright-core";

/** Milliseconds after which a page counts as hanging, even on a busy machine. */
export const TIMEOUT = 120_000;

/** A running browser. Disposing it closes it. */
export interface TestBrowser extends AsyncDisposable {
  readonly version: string;
  /** Opens a page with its own storage. */
  newPage(): Promise<TestPage>;
}

/** A page, with its errors and requests. Disposing it closes it. */
export interface TestPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors on the console, and uncaught errors. */
  readonly errors: readonly string[];
  /**
   * URLs of requests and sockets to any host other than 127.0.0.1 and
   * localhost.
   */
  readonly foreignRequests: readonly string[];
}

const PROGRAMS = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
];

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts a browser. This takes about half a second, so share one browser within
 * a file or test.
 *
 * @example
 * ```ts
 * Deno.test("A page in the browser", async (t) => {
 *   await using browser = await startBrowser();
 *   await t.step("says hello", async () => {
 *     await using view = await browser.newPage();
 *     await view.page.setContent("<h1>Hello</h1>");
 *   });
 * });
 * ```
 */
export async function startBrowser(): Promise<TestBrowser> {
  const { path, env = {}, args = [] } = await findBrowser();
  const browser = await chromium.launch({
    executablePath: path,
    timeout: TIMEOUT,
    env: { ...Deno.env.toObject(), ...env },
    args: [...FLAGS, ...args],
    // The test runner handles SIGINT itself.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  return {
    version: browser.version(),
    newPage: () => newPage(browser),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Shares one browser between all tests of a file. */
export function shareBrowser(): Pick<TestBrowser, "newPage"> {
  let browser: TestBrowser;
  Deno.test.beforeAll(async () => {
    browser = await startBrowser();
  });
  Deno.test.afterAll(async () => await browser[Symbol.asyncDispose]());
  return { newPage: () => browser.newPage() };
}

/** A browser's executable and its settings. */
export interface Program {
  /** Path of the executable. */
  readonly path: string;
  /** Environment variables. */
  readonly env?: Record<string, string>;
  /** Additional arguments. */
  readonly args?: readonly string[];
}

/** Finds the browser for tests. */
export async function findBrowser(): Promise<Program> {
  const chosen = Deno.env.get("CHROME_PATH");
  if (chosen) return { path: chosen };
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    for (const program of PROGRAMS) {
      const path = `${folder}/${program}`;
      if (await isFile(path)) return { path };
    }
  }
  return await findBundledBrowser();
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

async function newPage(browser: Browser): Promise<TestPage> {
  const context = await browser.newContext();
  context.setDefaultTimeout(TIMEOUT);
  const errors: string[] = [];
  const foreignRequests: string[] = [];
  watch(context, errors, foreignRequests);
  const page = await context.newPage();
  return {
    page,
    errors,
    foreignRequests,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function watch(
  context: BrowserContext,
  errors: string[],
  foreignRequests: string[],
): void {
  const note = (url: string) => {
    if (isForeign(url)) foreignRequests.push(url);
  };
  context.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  context.on("weberror", (error) => errors.push(String(error.error())));
  context.on("request", (request) => note(request.url()));
  context.on("page", (page) => {
    page.on("websocket", (socket) => note(socket.url()));
  });
}

function isForeign(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return /^(https?|wss?|ftp):$/.test(protocol) &&
    hostname !== "127.0.0.1" && hostname !== "localhost";
}
