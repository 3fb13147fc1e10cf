/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * Measures the viewer in a real browser with its intended maximum: 10,000
 * traces of 20 spans each, and one trace of 10,000 spans.
 *
 * Run it with `deno task bench viewer/speed`. A number after it sets how often
 * the page is opened.
 *
 * @module
 */

import { createTracer, generateViewerHTML } from "@quartet/kit/trace";
import { tracePlugin } from "@quartet/kit/trace";
import { createApp, serve } from "@quartet/kit/app";
import type { CDPSession } from "playwright-core";
import { startBrowser } from "../../tests/e2e/browser.ts";
import type { Page, TestBrowser } from "../../tests/e2e/browser.ts";
import { realisticTraces } from "../../tests/trace/export/realistic.ts";
import { largeTrace } from "../../tests/viewer/sample_traces.ts";
import type { SerializedTrace, TraceData } from "../../trace/types.ts";
import { medianOf } from "../compare.ts";
import { printFigures } from "./figures.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const TRACES = 10_000;
const SPANS = 20;

/** Helpers that run in each page before its own script. */
const HELPERS = `
  /** Resolves when the latest drawing is on the screen. */
  globalThis.painted = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        port2.postMessage(0);
      })
    );

  /** Resolves with the time when an element was on the screen. */
  globalThis.shown = (selector) =>
    new Promise((resolve) => {
      const look = () => {
        if (!document.querySelector(selector)) return false;
        observer.disconnect();
        painted().then(resolve);
        return true;
      };
      const observer = new MutationObserver(look);
      if (!look()) {
        observer.observe(document, { childList: true, subtree: true });
      }
    });

  globalThis.nodeCount = () => {
    const walker = document.createTreeWalker(document);
    let count = 1;
    while (walker.nextNode()) count++;
    return count;
  };

  globalThis.listShown = shown("#trace-list [data-row]");
`;

const opened: number[] = [];
const clicked: number[] = [];
const keystrokes: number[] = [];
const searches: number[] = [];
const liveFew: number[] = [];
const liveMany: number[] = [];
const liveBurst: number[] = [];
const largeOpened: number[] = [];
const worstFrames: number[] = [];
let nodes = 0;

const many = await writePage(realisticTraces(TRACES, SPANS));
const large = await writePage([
  ...realisticTraces(50, SPANS),
  largeTrace(10_000),
]);
const { size } = await Deno.stat(many);
try {
  await using browser = await startBrowser();
  for (let round = -1; round < ROUNDS; round++) {
    const keep = round >= 0;
    await measureMany(browser, keep);
    await measureLarge(browser, keep);
  }
  await measureLive(browser, []);
  await measureLive(browser, realisticTraces(TRACES, SPANS, 2));
} finally {
  await Promise.all([many, large].map((path) => Deno.remove(path)));
}

printFigures(
  `${
    TRACES.toLocaleString("en")
  } traces of ${SPANS} spans, medians of ${ROUNDS} openings`,
  [
    { name: "exported file", value: size / 1024 ** 2, unit: "MB", limit: 8 },
    {
      name: "list is readable",
      value: medianOf(opened),
      unit: "ms",
      limit: 700,
    },
    {
      name: "click to waterfall",
      value: medianOf(clicked),
      unit: "ms",
      limit: 50,
    },
    {
      name: "keystroke in a filter",
      value: medianOf(keystrokes),
      unit: "ms",
      limit: 30,
    },
    {
      name: "keystroke in the search",
      value: medianOf(searches),
      unit: "ms",
      limit: 30,
    },
    {
      name: "live trace alone, few others",
      value: medianOf(liveFew),
      unit: "ms",
      limit: 2,
    },
    {
      name: "live trace alone, 10,000 others",
      value: medianOf(liveMany),
      unit: "ms",
      limit: 2,
    },
    {
      name: "live trace, one of 50 at once",
      value: medianOf(liveBurst),
      unit: "ms",
      limit: 2,
    },
    { name: "most DOM nodes", value: nodes, unit: "", limit: 2_000 },
  ],
);
printFigures(`A trace of 10,000 spans, medians of ${ROUNDS} openings`, [
  {
    name: "click to waterfall",
    value: medianOf(largeOpened),
    unit: "ms",
    limit: 200,
  },
  {
    name: "worst frame of scrolling",
    value: medianOf(worstFrames),
    unit: "ms",
    limit: 50,
  },
]);

async function writePage(traces: readonly SerializedTrace[]): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".html" });
  const records = traces.map((trace): TraceData => ({
    ...trace,
    spans: new Map(trace.spans.map((span) => [span.id, span])),
  }));
  await Deno.writeTextFile(path, await generateViewerHTML(records));
  return path;
}

/** Opens the page of many traces, clicks and types in it. */
async function measureMany(browser: TestBrowser, keep: boolean) {
  await using view = await browser.newPage();
  const { page } = view;
  await page.addInitScript(HELPERS);
  await page.goto(`file://${many}`);
  const readable = await page.evaluate<number>("listShown");
  if (keep) opened.push(readable);
  await noteNodes(page);

  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  for (let i = 1; i <= 5; i++) {
    const time = await timeOfClick(
      page,
      `#trace-list [data-row]:nth-child(${i * 3})`,
    );
    if (keep) clicked.push(time);
    await noteNodes(page);
    await page.keyboard.press("Escape");
    await page.locator("#waterfall").waitFor({ state: "detached" });
  }
  const path = page.getByLabel("Path contains");
  await path.focus();
  for (const key of [..."/countries/fr", ...Array(13).fill("Backspace")]) {
    const time = await cost(page, session, () => page.keyboard.press(key));
    if (keep) keystrokes.push(time);
  }
  await page.locator("#search").focus();
  // On its first focus, the search prepares itself in slices between frames.
  await page.locator(".search kbd").waitFor();
  await page.keyboard.press("x");
  await page.locator(".search kbd").waitFor();
  await page.keyboard.press("Backspace");
  for (const key of [..."cache.get", ...Array(9).fill("Backspace")]) {
    const time = await cost(page, session, () => page.keyboard.press(key));
    if (keep) searches.push(time);
  }
  await noteNodes(page);
  await page.locator("#tab-routes").click();
  await page.evaluate("painted()");
  await noteNodes(page);
}

/** Opens the trace of many spans, and scrolls through it. */
async function measureLarge(browser: TestBrowser, keep: boolean) {
  await using view = await browser.newPage();
  const { page } = view;
  await page.addInitScript(HELPERS);
  await page.goto(`file://${large}`);
  await page.evaluate("listShown");
  const row = await page.locator("[data-row]", { hasText: "/reports/yearly" })
    .getAttribute("data-row");
  const time = await timeOfClick(page, `#trace-list [data-row="${row}"]`);
  if (keep) largeOpened.push(time);
  await noteNodes(page);

  // All rows, without grouping of repeated spans.
  await page.keyboard.press("u");
  await page.evaluate("painted()");
  const worst = await page.evaluate<number>(`(async () => {
    const grid = document.querySelector("#waterfall");
    let worst = 0;
    let last;
    for (let frame = 0; frame < 120; frame++) {
      const now = await new Promise(requestAnimationFrame);
      if (last !== undefined) worst = Math.max(worst, now - last);
      last = now;
      // Slowly at first, as with a wheel, then in leaps, as with a dragged
      // scrollbar.
      grid.scrollTop += frame < 60 ? 100 : 3_000;
    }
    return worst;
  })()`);
  if (keep) worstFrames.push(worst);
  await noteNodes(page);
}

/** Sends traces to an open page: at most one per frame, then many at once. */
async function measureLive(
  browser: TestBrowser,
  before: readonly SerializedTrace[],
) {
  const tracer = createTracer();
  const app = createApp({ trace: tracePlugin(tracer) });
  const server = serve(app, { port: 0, signals: false, onListen: () => {} });
  try {
    await using view = await browser.newPage();
    const { page } = view;
    await page.addInitScript(HELPERS);
    await page.goto(`http://127.0.0.1:${server.address.port}/__app/traces`);
    await page.getByText("Live", { exact: true }).waitFor();
    if (before.length > 0) {
      const file = await writePage(before);
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open files" }).first().click();
      await (await chooser).setFiles(file);
      await page.evaluate("listShown");
      await Deno.remove(file);
    }
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const batch = 50;
    for (let turn = -2; turn < 8; turn++) {
      const idle = await taskTime(page, session, async () => {
        for (let i = 0; i < batch; i++) await page.evaluate("painted()");
      });
      const busy = await taskTime(page, session, async () => {
        for (let i = 0; i < batch; i++) {
          recordRequest(tracer);
          await page.evaluate("painted()");
        }
      });
      const burst = await taskTime(page, session, async () => {
        for (let i = 0; i < batch; i++) recordRequest(tracer);
        const newest = tracer.getTraces().at(-1)!.id;
        await page.locator(`#trace-list [data-row="${newest}"]`).waitFor();
      });
      if (turn < 0) continue;
      if (before.length === 0) liveFew.push((busy - idle) / batch);
      else {
        liveMany.push((busy - idle) / batch);
        liveBurst.push(burst / batch);
      }
    }
    await noteNodes(page);
  } finally {
    await server.shutdown();
  }
}

/** Records a trace of 20 spans. */
function recordRequest(tracer: ReturnType<typeof createTracer>): void {
  const root = tracer.startTrace("GET /countries/fra", "request", {
    attributes: {
      "http.request.method": "GET",
      "url.path": "/countries/fra",
      "http.route": "/countries/:code",
    },
  });
  const loader = root.child("loader:country", "data");
  for (let i = 0; i < SPANS - 2; i++) {
    const query = loader.child("db.query", "database", {
      "db.query.text": `SELECT * FROM country WHERE code = ${i}`,
    });
    query.end();
  }
  loader.end();
  root.end();
}

/** Returns the time from a mouse click until the waterfall is on the screen. */
async function timeOfClick(page: Page, selector: string): Promise<number> {
  await page.evaluate(`{
    globalThis.waterfall = new Promise((resolve) =>
      addEventListener("click", async (event) =>
        resolve(await shown("#waterfall [data-row]") - event.timeStamp),
        { capture: true, once: true })
    );
    undefined; // the promise would be awaited
  }`);
  await page.locator(selector).click();
  return await page.evaluate<number>("waterfall");
}

/**
 * Returns the CPU time of the page's main thread for an action until it's
 * painted.
 */
async function cost(
  page: Page,
  session: CDPSession,
  act: () => Promise<void>,
): Promise<number> {
  return await taskTime(page, session, async () => {
    await act();
    await page.evaluate("painted()");
  });
}

/** Returns the CPU time of the page's main thread, in milliseconds. */
async function taskTime(
  page: Page,
  session: CDPSession,
  act: () => Promise<void>,
): Promise<number> {
  await page.evaluate("painted()");
  const before = await taskDuration(session);
  await act();
  return (await taskDuration(session) - before) * 1000;
}

async function taskDuration(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")!.value;
}

async function noteNodes(page: Page): Promise<void> {
  nodes = Math.max(nodes, await page.evaluate<number>("nodeCount()"));
}
