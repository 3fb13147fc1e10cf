/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * The viewer in a real browser, and a traced Atlas to inspect with it.
 *
 * @module
 */

import { createApp, serve } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import type { Tracer } from "@quartet/kit/trace";
import { assertEquals } from "@std/assert";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import { parseUrlState, type UrlState } from "../../viewer/model/url_state.ts";
import {
  type Page,
  type TestBrowser,
  type TestPage,
  TIMEOUT,
} from "./browser.ts";

/** Atlas with tracing. Disposing it stops it. */
export interface TracedAtlas extends AsyncDisposable {
  /** Its origin. */
  readonly url: string;
  /** URL of the viewer. */
  readonly viewer: string;
  readonly tracer: Tracer;
}

/** Starts Atlas as the dev command does, with an in-memory database. */
export function startAtlas(
  { port = 0, tracer = createTracer() }: { port?: number; tracer?: Tracer } =
    {},
): TracedAtlas {
  const atlas = createAtlas({ database: ":memory:" });
  const host = createApp({ trace: tracePlugin(tracer) });
  host.use((request, context) => atlas.fetch(request, context.info));
  const server = serve({
    fetch: host.fetch,
    close: async () => {
      await Promise.all([host.close(), atlas.close()]);
    },
  }, { port, signals: false, onListen: () => {} });
  const url = `http://127.0.0.1:${server.address.port}`;
  return {
    url,
    viewer: `${url}/__app/traces`,
    tracer,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A page with the viewer, and its network requests. */
export interface ViewerPage extends TestPage {
  /** URLs of all requests, including the page's own. */
  readonly requests: readonly string[];
  /** Returns the violations of the Content-Security-Policy, as text. */
  violations(): Promise<string[]>;
}

export interface ViewerPageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** Whether the network is off. Default: `false`. */
  readonly offline?: boolean;
}

/** Opens an empty page for the viewer. */
export async function newViewerPage(
  browser: Pick<TestBrowser, "newPage">,
  options: ViewerPageOptions = {},
): Promise<ViewerPage> {
  const { width = 1280, height = 800, colorScheme = "light" } = options;
  const view = await browser.newPage();
  const { page } = view;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  if (options.offline) await page.context().setOffline(true);
  await page.addInitScript(() => {
    const violations: string[] = [];
    Object.assign(globalThis, { violations });
    addEventListener("securitypolicyviolation", (event) => {
      const { violatedDirective, blockedURI } =
        event as SecurityPolicyViolationEvent;
      violations.push(`${violatedDirective}: ${blockedURI}`);
    });
  });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("websocket", (socket) => requests.push(socket.url()));
  return {
    page,
    errors: view.errors,
    foreignRequests: view.foreignRequests,
    requests,
    violations: () => page.evaluate<string[]>("violations"),
    [Symbol.asyncDispose]: () => view[Symbol.asyncDispose](),
  };
}

export async function openViewer(
  browser: Pick<TestBrowser, "newPage">,
  url: string,
  options?: ViewerPageOptions,
): Promise<ViewerPage> {
  const view = await newViewerPage(browser, options);
  await view.page.goto(url);
  return view;
}

/** Checks that a view had no errors and sent no requests to other hosts. */
export async function assertQuiet(view: ViewerPage): Promise<void> {
  assertEquals(view.errors, []);
  assertEquals(view.foreignRequests, []);
  assertEquals(await view.violations(), []);
}

/** Waits until code returns a truthy value in the page. */
export async function waitUntil(page: Page, code: string): Promise<void> {
  const end = performance.now() + TIMEOUT;
  // Polls from here: the page's policy forbids evaluating a string there.
  while (!await page.evaluate<boolean>(`!!(${code})`)) {
    if (performance.now() > end) {
      throw new Error(`Timed out waiting for ${code}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until the keyboard focus is in a part of the page. */
export function waitForPlace(
  page: Page,
  place: "list" | "trace" | "details",
): Promise<void> {
  return waitUntil(
    page,
    `document.activeElement?.closest("[data-place]")?.dataset.place === "${place}"`,
  );
}

/** Waits until an element has a text. */
export function waitForText(
  page: Page,
  selector: string,
  text: string | RegExp,
): Promise<void> {
  return page.locator(selector, { hasText: text }).first().waitFor();
}

/** Waits until the list shows this number of traces. */
export function waitForCount(page: Page, count: string): Promise<void> {
  return waitUntil(
    page,
    `document.querySelector("#counts")?.textContent === ${
      JSON.stringify(count)
    }`,
  );
}

/** Waits until this number of elements matches a selector. */
export function waitForRows(
  page: Page,
  selector: string,
  count: number,
): Promise<void> {
  return waitUntil(
    page,
    `document.querySelectorAll(${
      JSON.stringify(selector)
    }).length === ${count}`,
  );
}

/** Returns the paths in the list, from the top. */
export async function listedPaths(page: Page): Promise<string[]> {
  const rows = page.locator("#trace-list [data-row]");
  const paths: string[] = await rows.evaluateAll((rows) =>
    rows.map((row) => ({
      top: row.getBoundingClientRect().top,
      path: row.querySelector(".path")!.firstChild!.textContent!,
    })).toSorted((a, b) => a.top - b.top).map(({ path }) => path)
  );
  return paths;
}

/** Waits until the list shows these paths, from the top. */
export function waitForPaths(
  page: Page,
  paths: readonly string[],
): Promise<void> {
  return waitForValue(() => listedPaths(page), paths);
}

/** Waits until the elements that match a selector have these texts. */
export function waitForTexts(
  page: Page,
  selector: string,
  texts: readonly string[],
): Promise<void> {
  return waitForValue(() => page.locator(selector).allInnerTexts(), texts);
}

/** Reads a value until it is as expected. */
export async function waitForValue<Value>(
  read: () => Promise<Value>,
  expected: Value,
): Promise<void> {
  const end = performance.now() + TIMEOUT;
  for (;;) {
    const found = await read();
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    if (performance.now() > end) assertEquals(found, expected);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Opens the first listed trace whose row has this text. */
export async function openTrace(
  page: Page,
  text: string | RegExp,
): Promise<void> {
  await clickUntilSelected(page, "#trace-list [data-row]", text);
  await page.locator("#waterfall [data-row]").first().waitFor();
}

/** Selects the first span whose row has this text. */
export async function selectSpan(
  page: Page,
  text: string | RegExp,
): Promise<void> {
  await clickUntilSelected(page, "#waterfall [data-row]", text, ".label");
  await page.locator("#details").waitFor();
}

/**
 * Clicks on a row until it is selected. A live update may move the row away, so
 * that the click hits another one.
 */
export async function clickUntilSelected(
  page: Page,
  rows: string,
  text: string | RegExp = "",
  part?: string,
): Promise<void> {
  const row = page.locator(rows, { hasText: text }).first();
  const selected = page.locator(`${rows}[aria-selected=true]`, {
    hasText: text,
  });
  const end = performance.now() + TIMEOUT;
  do {
    if (performance.now() > end) throw new Error(`Can't select ${text}`);
    await (part === undefined ? row : row.locator(part)).click();
  } while (await selected.count() === 0);
}

/** Records a failed job that repeats one query many times. */
export function recordFailure(tracer: Tracer): void {
  const root = tracer.startTrace("job:report");
  for (let i = 0; i < 12; i++) {
    const query = root.child("db.query", "database");
    query.setAttribute("db.query.text", "SELECT name FROM user WHERE id = ?");
    query.end();
  }
  for (const name of ["first", "second"]) {
    const step = root.child(`step:${name}`, "custom");
    step.error(new RangeError(`The ${name} step went wrong`));
    step.end();
  }
  root.end();
}

/**
 * Walks through the viewer by keyboard alone: search, trace, spans, details,
 * flame graph, comparison, and back. The list is open, with a trace of
 * `recordFailure()` and other traces.
 */
export async function walkByKeyboard(page: Page): Promise<void> {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const selected = (text: string) =>
    waitForText(page, "#waterfall [aria-selected=true] .label", text);

  await press("?");
  await page.locator("#help").waitFor();
  await press("Escape");
  await page.locator("#help").waitFor({ state: "detached" });

  await press("/");
  await waitUntil(page, `document.activeElement.id === "search"`);
  await page.keyboard.type("went wrong");
  await waitForPaths(page, ["job:report"]);
  await press("Enter");
  await waitForPlace(page, "list");
  await press("j", "Enter");
  await waitForPlace(page, "trace");
  await page.locator("#waterfall").waitFor();

  await press("n");
  await selected("step:first");
  await press("n");
  await selected("step:second");
  await press("N");
  await selected("step:first");
  await press("e");
  await selected("step:second");
  await press("E");
  await selected("step:first");
  await press("Enter");
  await waitForPlace(page, "details");
  await waitForText(page, "#details", "RangeError: The first step went wrong");
  await press("Escape");
  await waitForPlace(page, "trace");

  await press("g");
  await selected("job:report");
  await press("h");
  await waitUntil(
    page,
    `document.querySelectorAll("#waterfall [data-row]").length === 1`,
  );
  await press("l", "j");
  await selected("db.query");
  await waitForText(page, "#details", "The same span 12 times");
  await press("l");
  await waitUntil(
    page,
    `document.querySelectorAll("#waterfall [data-row]").length > 12`,
  );
  await press("h", "G");
  await selected("step:second");
  await press("k", "ArrowUp");
  await selected("db.query");

  await press("f");
  await page.locator("#flame").waitFor();
  await waitForPlace(page, "trace");
  await press("ArrowUp");
  await waitForText(page, "#flame-told", /^job:report: /);
  await press("f");
  await page.locator("#waterfall").waitFor();
  await waitForPlace(page, "trace");

  await press("Escape");
  await page.locator("#details").waitFor({ state: "detached" });
  await press("Escape");
  await page.locator("#waterfall").waitFor({ state: "detached" });
  await waitForPlace(page, "list");
  await press("/", "Escape", "Escape");
  await waitForPlace(page, "list");
  await waitUntil(
    page,
    `document.querySelectorAll("#trace-list [data-row]").length > 1`,
  );

  await press("g", "x", "j", "x");
  await page.locator("#compare-spans [role=row]").nth(1).waitFor();
  await press("Escape");
  await page.locator("#compare-spans").waitFor({ state: "detached" });
  await page.locator("#waterfall").waitFor();
  await press("Escape");
  await page.locator("#waterfall").waitFor({ state: "detached" });
  await waitForPlace(page, "list");

  await press("r");
  await page.locator("#route-table [data-row]").first().waitFor();
  await waitForPlace(page, "list");
  await press("r");
  await page.locator("#trace-list").waitFor();
  for (const theme of ["light", "dark", "system"]) {
    await press("t");
    await waitUntil(
      page,
      `document.documentElement.dataset.theme === "${theme}"`,
    );
  }
}

/** State in the viewer's address. */
export interface Address extends UrlState {
  /** The full URL. */
  readonly href: string;
}

/** Waits until the address has the expected state, and returns it. */
export async function waitForAddress(
  page: Page,
  isExpected: (address: Address) => boolean,
): Promise<Address> {
  const end = performance.now() + TIMEOUT;
  for (;;) {
    const href = await page.evaluate<string>("location.href");
    const address = { href, ...parseUrlState(new URL(href).hash) };
    if (isExpected(address)) return address;
    if (performance.now() > end) throw new Error(`Timed out at ${href}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
