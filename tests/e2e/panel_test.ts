/// <reference lib="dom" />

import { assert, assertEquals, assertMatch } from "@std/assert";
import { addressOf, makeFolder, startDev } from "../dev/dev_command.ts";
import { type Child, ROOT } from "../helpers.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { type Page, shareBrowser, type TestPage, TIMEOUT } from "./browser.ts";
import { waitUntil } from "./viewer_page.ts";

const browser = shareBrowser();

/** A Hono app whose pages the tests open. */
const APP = `
  import { Hono } from "hono";
  import { DatabaseSync } from "node:sqlite";
  import { unstable_cache } from "${new URL("data/mod.ts", ROOT)}";
  import { tracedAdapter, withSpan } from "${new URL("trace/mod.ts", ROOT)}";
  const database = tracedAdapter(new DatabaseSync(":memory:"));
  const count = unstable_cache(() => Promise.resolve(7), ["count"]);
  const ask = () => database.prepare("SELECT 1").all();
  const page = (content) =>
    "<!doctype html><html lang=en><head><title>Notes</title></head>" +
    "<body><main><h1>Notes</h1>" + content + "</main></body></html>";
  const app = new Hono();
  app.get("/", async (c) => {
    ask();
    await count();
    await count();
    return c.html(page("<button>Save</button>"));
  });
  app.get("/more", (c) => {
    for (let i = 0; i < 6; i++) ask();
    try {
      withSpan("fails", "custom", () => { throw new Error("no notes"); });
    } catch {}
    return c.json([]);
  });
  const policies = {
    nonce: "default-src 'none'; script-src 'nonce-Zm9v' 'strict-dynamic'; " +
      "connect-src 'self'; frame-src 'self'; require-trusted-types-for 'script'",
    self: "default-src 'self'",
    unframed: "default-src 'self'; frame-src 'none'; style-src 'none'",
    none: "default-src 'none'",
  };
  app.get("/policy/:name", (c) => {
    c.header("Content-Security-Policy", policies[c.req.param("name")]);
    return c.html(page(""));
  });
  app.get("/isolated", (c) => {
    c.header("Cross-Origin-Opener-Policy", "same-origin");
    c.header("Cross-Origin-Embedder-Policy", "require-corp");
    return c.html("<!doctype html><base href='http://other.test/'>" + page(""));
  });
  app.get("/framed", (c) => c.html(page("<iframe title=a src='/'></iframe>")));
  app.get("/favicon.ico", (c) => c.body(null, 204));
  let rest;
  app.get("/streamed", () => new Response(new ReadableStream({
    start(controller) {
      controller.enqueue("<!doctype html><title>Notes</title><h1>First</h1>");
      rest = controller;
    },
  }).pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "text/html; charset=utf-8" },
  }));
  app.get("/rest", (c) => {
    rest.enqueue("<h2>Second</h2>");
    rest.close();
    return c.body(null, 204);
  });
  export default app;`;

interface App extends AsyncDisposable {
  readonly child: Child;
  readonly url: URL;
  /** Starts it again at the same address. */
  restart(): Child;
  /** Opens a path in a page of its own, with layout shifts recorded. */
  open(path: string, options?: PageOptions): Promise<TestPage>;
}

interface PageOptions {
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
  readonly forcedColors?: "active";
}

/** The demo, whose pages are traced. */
const ATLAS = `
  import { createAtlas } from "${new URL("examples/atlas/atlas.ts", ROOT)}";
  export default createAtlas({ database: ":memory:" });`;

async function start(entry = APP): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeFolder());
  await folder.write("main.ts", entry);
  const run = (port: string) =>
    startDev(["main.ts", "--port", port, "--trace"], folder);
  const child = stack.use(run("0"));
  const url = await addressOf(child);
  const owned = stack.move();
  return {
    child,
    url,
    restart: () => run(url.port),
    async open(path, { width = 1000, ...media } = {}) {
      const view = await browser.newPage();
      const { page } = view;
      await page.setViewportSize({ width, height: 700 });
      await page.emulateMedia(media);
      await page.addInitScript(() => {
        const seen = { shift: 0, violations: [] as string[] };
        Object.assign(globalThis, { seen });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            seen.shift += (entry as unknown as { value: number }).value;
          }
        }).observe({ type: "layout-shift", buffered: true });
        addEventListener("securitypolicyviolation", (event) => {
          seen.violations.push(
            (event as SecurityPolicyViolationEvent).violatedDirective,
          );
        });
      });
      await page.goto(new URL(path, url).href, { waitUntil: "commit" });
      return view;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const badgeOf = (page: Page) => page.locator("trace-panel .badge");
const frameOf = (page: Page) => page.frameLocator("trace-panel iframe");

/** Waits until the badge shows these figures. */
async function waitForFigures(page: Page, figures: RegExp): Promise<void> {
  await page.locator("trace-panel .badge", { hasText: figures }).waitFor();
}

/** Waits for a trace that has a span of this name. Returns all its spans' names. */
async function waitForTrace(server: URL, name: string): Promise<string[]> {
  const end = performance.now() + TIMEOUT;
  while (performance.now() < end) {
    const response = await fetch(new URL("/__app/traces/api", server));
    const { traces } = await response.json() as {
      traces: { spans: { name: string }[] }[];
    };
    const names = traces.map(({ spans }) => spans.map(({ name }) => name))
      .find((names) => names.includes(name));
    if (names !== undefined) return names;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Timed out waiting for ${name}`);
}

/** Checks that a page had no errors, no violations and no layout shifts. */
async function assertQuiet({ page, errors, foreignRequests }: TestPage) {
  assertEquals([errors, foreignRequests], [[], []]);
  assertEquals(await page.evaluate("seen"), { shift: 0, violations: [] });
}

Deno.test("The badge of a Hono app's page follows its requests, and opens their trace by keyboard", async () => {
  await using app = await start();
  await using view = await app.open("/");
  const { page } = view;
  await waitForFigures(page, /^[\d.]+ m?s 1 query cache 1\/2 $/);
  await page.evaluate("fetch('/more').then((response) => response.json())");
  await waitForFigures(
    page,
    /s 7 queries cache 1\/2 1 error 1 finding 2 requests $/,
  );

  await page.locator("button", { hasText: "Save" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assertEquals(await badgeOf(page).getAttribute("aria-expanded"), "true");
  await frameOf(page).locator("#waterfall [data-row]").first().waitFor();
  assertMatch(page.frames()[1]!.url(), /#trace=[\da-f]{32}$/);
  const finding = page.locator("trace-panel li button");
  assertMatch((await finding.textContent())!, /^6 × SELECT \? main\.ts:\d+$/);
  await finding.press("Enter");
  await frameOf(page).locator("#details").waitFor();
  assertMatch(page.frames()[1]!.url(), /#trace=[\da-f]{32}&span=[\da-f]{16}$/);
  await frameOf(page).getByText("GET /more").first().waitFor();
  // More of the same leaves the focus where it is.
  await page.evaluate("fetch('/more').then((response) => response.json())");
  await waitForFigures(page, /1 finding 3 requests $/);
  assert(await finding.evaluate((button) => button.matches(":focus")));
  // It isn't shown in its own frame.
  assertEquals(page.frames().length, 2);
  await finding.press("Escape");
  assertEquals(await badgeOf(page).getAttribute("aria-expanded"), "false");
  await assertQuiet(view);
});

Deno.test("The panel is accessible in both themes and forced colours, at 390 pixels too, and remembers where it was", async () => {
  await using app = await start();
  for (
    const options of [
      { colorScheme: "light", width: 390 },
      { colorScheme: "dark" },
      { forcedColors: "active" },
    ] as const
  ) {
    await using view = await app.open("/", options);
    const { page } = view;
    await waitForFigures(page, /1 query/);
    await loadAxe(page);
    await assertAccessible(page);
    // The arrow keys move it, also on the right side without a layout shift.
    await badgeOf(page).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowUp");
    await page.evaluate("fetch('/more').then((response) => response.json())");
    await waitForFigures(page, /7 queries .* 1 finding/);
    const width = options.width ?? 1000;
    const box = await badgeOf(page).boundingBox();
    assertEquals([box!.y, Math.round(box!.x + box!.width)], [8, width - 8]);
    await page.keyboard.press("Enter");
    await frameOf(page).locator("#waterfall [data-row]").first().waitFor();
    await assertAccessible(page);
    const isWide = "document.documentElement.scrollWidth > innerWidth";
    assertEquals(await page.evaluate<boolean>(isWide), false);

    await page.reload();
    await frameOf(page).locator("#waterfall [data-row]").first().waitFor();
    assertEquals((await badgeOf(page).boundingBox())!.y, 8);
    await badgeOf(page).focus();
    await page.keyboard.press("Escape");
    assertEquals(await badgeOf(page).getAttribute("aria-expanded"), "false");
    assertEquals(page.frames().length, 1);
    await assertQuiet(view);
  }
});

Deno.test("A drag moves the badge to the nearest corner, and doesn't open it", async () => {
  await using app = await start();
  await using view = await app.open("/");
  const { page } = view;
  await waitForFigures(page, /1 query/);
  await badgeOf(page).hover();
  await page.mouse.down();
  await page.mouse.move(700, 300);
  await page.mouse.move(900, 100);
  await page.mouse.up();
  const box = await badgeOf(page).boundingBox();
  assertEquals([box!.y, Math.round(box!.x + box!.width)], [8, 992]);
  assertEquals(await badgeOf(page).getAttribute("aria-expanded"), "false");
  await badgeOf(page).click();
  assertEquals(await badgeOf(page).getAttribute("aria-expanded"), "true");
  await assertQuiet(view);
});

Deno.test("The panel works where a strict policy allows it, and causes no violation anywhere", async () => {
  await using app = await start();
  for (const path of ["/policy/nonce", "/policy/self", "/isolated"]) {
    await using view = await app.open(path);
    const { page } = view;
    await waitForFigures(page, /0 queries/);
    await badgeOf(page).click();
    await frameOf(page).locator("#waterfall [data-row]").first().waitFor();
    await assertQuiet(view);
  }
  await using unframed = await app.open("/policy/unframed");
  await badgeOf(unframed.page).click();
  const link = unframed.page.locator("trace-panel a");
  await waitUntil(
    unframed.page,
    "document.querySelector('trace-panel').shadowRoot.querySelector('a').hash",
  );
  assertMatch(
    (await link.getAttribute("href"))!,
    /^http:\/\/127\.0\.0\.1:\d+\/__app\/traces#trace=[\da-f]{32}$/,
  );
  await assertQuiet(unframed);

  await using refused = await app.open("/policy/none");
  await refused.page.waitForLoadState("load");
  assertEquals(await refused.page.locator("trace-panel").count(), 0);
  await assertQuiet(refused);
  app.child.kill("SIGTERM");
  await app.child.code;
  assertEquals(
    app.child.stderr,
    "GET /policy/none has no trace panel: default-src of its Content-Security-Policy must allow 'self' or a nonce\n",
  );
});

Deno.test("A streamed page shows its start and the badge before the rest arrives, and frames have no badge", async () => {
  await using app = await start();
  await using view = await app.open("/streamed");
  const { page } = view;
  await page.getByRole("heading", { name: "First" }).waitFor();
  await badgeOf(page).waitFor();
  assertEquals(await page.getByRole("heading").count(), 1);
  await page.evaluate("fetch('/rest')");
  await page.getByRole("heading", { name: "Second" }).waitFor();
  await page.waitForLoadState("load");
  await waitForFigures(page, /s 0 queries 2 requests $/);
  await assertQuiet(view);

  await using framed = await app.open("/framed");
  await badgeOf(framed.page).waitFor();
  const inner = framed.page.frameLocator("iframe[title=a]");
  await inner.getByRole("heading").waitFor();
  assertEquals(await inner.locator("trace-panel").count(), 0);
  await assertQuiet(framed);
});

Deno.test("The panel isn't part of a traced page's trace, and outlives a restart of the server", async () => {
  await using app = await start(ATLAS);
  await using view = await app.open("/countries/FRA");
  const { page } = view;
  // The page's script has run, and traces requests.
  await page.waitForLoadState("load");
  await waitForFigures(page, /queries/);
  await badgeOf(page).click();
  // Within a second, a request would belong to the click.
  await page.evaluate("fetch('/api/rpc').then((response) => response.text())");
  await frameOf(page).locator("#waterfall [data-row]").first().waitFor();
  const spans = await waitForTrace(app.url, "fetch GET /api/rpc");
  assertEquals(spans.includes("page:load"), true);
  assertEquals(spans.filter((name) => /panel|__app|^click/.test(name)), []);

  app.child.kill("SIGTERM");
  await app.child.code;
  await waitForFigures(page, /no server/);
  await using _again = app.restart();
  await waitForFigures(page, /(queries|requests) $/);
});
