/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assertEquals, assertMatch } from "@std/assert";
import {
  createCollector,
  createTracer,
  exportTracesHTML,
  generateViewerHTML,
  serializeTrace,
} from "@quartet/kit/trace";
import type {
  SpanData,
  TraceData,
  TraceEvent,
  Tracer,
} from "@quartet/kit/trace";
import { toChromeTrace } from "../../trace/export/chrome.ts";
import { insertTraceData } from "../../trace/export/html.ts";
import { toOTLP } from "../../trace/export/otlp_writer.ts";
import { makeFolder } from "../dev/dev_command.ts";
import type { Page } from "./browser.ts";
import { startBrowser } from "./browser.ts";
import {
  assertQuiet,
  clickUntilSelected,
  newViewerPage,
  startAtlas,
  type ViewerPage,
  waitForCount,
  waitForText,
  waitUntil,
} from "./viewer_page.ts";

const MEGABYTE = 1024 * 1024;

/**
 * Texts that would run code as HTML or script. `hit()` records that one ran.
 */
const HOSTILE: Readonly<Record<string, string>> = {
  "a script's end": "</script><script>hit()</script>",
  "a comment's begin": "<!-- <script>hit()//",
  "a script": "<script>hit()</script>",
  "an image": "--><img src=x onerror=hit()><svg onload=hit()>",
  "quotes": `"'\`><b onmouseover="hit()" autofocus onfocus='hit()'>`,
  "other ends":
    `</title></style></textarea></template><iframe srcdoc="<script>parent.hit()</script>">`,
  "line separators": "\u2028hit()//\u2029</script\u2028><script>hit()</script>",
  "an address": "javascript:hit()//",
  "half a surrogate pair": "\ud800<img src=x onerror=hit()>\udc00",
  "a template": "${hit()} {{hit()}} \\u003cscript\\u003ehit()</script>",
  "a property": "__proto__",
  "a megabyte": "<img src=x onerror=hit()>".repeat(Math.ceil(MEGABYTE / 25)),
};
const TEXTS = Object.values(HOSTILE);

Deno.test("Recorded text stays text", async (t) => {
  await using browser = await startBrowser();
  await using folder = await makeFolder();
  const traces = TEXTS.map(hostileTrace);
  const serialized = traces.map(serializeTrace);

  /** Runs a step with a page that records whether hostile code has run. */
  const step = (name: string, fn: (view: ViewerPage) => Promise<void>) =>
    t.step(name, async () => {
      await using view = await newViewerPage(browser);
      await view.page.addInitScript(() => {
        Object.assign(globalThis, {
          wasHit: false,
          hit() {
            Object.assign(globalThis, { wasHit: true });
          },
        });
      });
      await fn(view);
      await assertUnharmed(view.page);
      await assertQuiet(view);
    });
  const importFile = async ({ page }: ViewerPage, text: string) => {
    const path = `${folder.path}/<img src=x onerror=hit()>.json`;
    await Deno.writeTextFile(path, text);
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Open files" }).first().click();
    await (await chooser).setFiles(path);
  };
  const openFile = async ({ page }: ViewerPage, html: string) => {
    const path = `${folder.path}/${crypto.randomUUID()}.html`;
    await Deno.writeTextFile(path, html);
    await page.goto(`file://${path}`);
  };

  await step("in traces that arrive live", async (view) => {
    await using atlas = startAtlas({
      tracer: relay(traces.slice(0, 2), traces),
    });
    const { page } = view;
    await page.goto(atlas.viewer);
    await waitForCount(page, "2 traces");
    for (const trace of traces.slice(2)) emitLive(trace);
    await lookAtAll(page);
    await lookElsewhere(page);
  });

  await step("in a page with traces as JSON", async (view) => {
    const text = JSON.stringify(serialized);
    const empty = await generateViewerHTML();
    await openFile(view, insertTraceData(empty, { encoding: "json", text }));
    await lookAtAll(view.page, { step: 2 });
    await lookElsewhere(view.page);
  });

  await step("in a page with packed traces", async (view) => {
    const html = await generateViewerHTML(traces);
    assertMatch(html, /data-encoding="packed"/);
    await openFile(view, html);
    // The next step looks at the last text, in such a page too.
    await lookAtAll(view.page, { step: 2, last: TEXTS.length - 2 });
    await lookElsewhere(view.page);

    await view.page.locator("#export").click();
    const download = view.page.waitForEvent("download");
    await view.page.getByRole("menuitem", { name: "HTML page" }).last().click();
    await (await download).saveAs(`${folder.path}/again.html`);
  });

  await step("in a page exported from such a page", async (view) => {
    await view.page.goto(`file://${folder.path}/again.html`);
    await lookAtAll(view.page, { step: 5 });
  });

  await step("in a small page exported by the server", async (view) => {
    const small = traces.filter((_, i) => TEXTS[i]!.length < 1_000);
    const html = await exportTracesHTML(relay(small));
    assertMatch(html, /data-encoding="json"/);
    await openFile(view, html);
    await waitForCount(view.page, `${small.length} traces`);
  });

  for (
    const [name, file] of [
      ["serialized traces", () => JSON.stringify(serialized)],
      ["OTLP/JSON", () => JSON.stringify(toOTLP(serialized))],
      ["a Chrome trace", () => JSON.stringify(toChromeTrace(serialized))],
      ["a page", () => generateViewerHTML(traces)],
    ] as const
  ) {
    await step(`in an imported file of ${name}`, async (view) => {
      await openFile(view, await generateViewerHTML([]));
      const { page } = view;
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open files" }).first().click();
      await (await chooser).setFiles({
        name: "</script><img src=x onerror=hit()>.json",
        mimeType: "application/json",
        buffer: Buffer.from(await file()),
      });
      await waitForText(
        page,
        ".notice",
        `Added ${TEXTS.length} traces from </`,
      );
      await lookAtAll(page, { step: 5 });
    });
  }

  await step("in an imported page that was manipulated", async (view) => {
    const html = await generateViewerHTML([traces[0]!]);
    await openFile(view, await generateViewerHTML([]));
    await importFile(
      view,
      html.replace(
        "<body>",
        `<body><img src=x onerror=hit()><script>hit()</script>`,
      ),
    );
    await waitForCount(view.page, "1 trace");
  });

  await step("in the error about an invalid file", async (view) => {
    await openFile(view, await generateViewerHTML([]));
    for (
      const text of [
        "<script>hit()</script>",
        `{"</script>`,
        `"<img src=x onerror=hit()>"`,
      ]
    ) {
      await importFile(view, text);
      await waitForText(view.page, ".notice.failed", ".json: Cannot read");
      await view.page.getByRole("button", { name: "Close the message" })
        .click();
    }
  });

  await step("in the address", async (view) => {
    await openFile(view, await generateViewerHTML([traces[0]!]));
    await openAddresses(view.page);
  });

  await step("in spans that a browser sends", showClientSpans);
});

/** Opens addresses that contain the texts. */
async function openAddresses(page: Page): Promise<void> {
  for (const text of TEXTS) {
    if (text.length > 1_000 || !text.isWellFormed()) continue;
    const part = encodeURIComponent(text);
    await page.evaluate(
      (hash) => location.hash = hash,
      `trace=${part}&span=${part}&view=${part}&compare=${part}`,
    );
    await waitForText(page, ".trace-pane", "This trace isn't here");
    await page.getByRole("button", { name: "Show the list" }).click();
    await page.locator(".trace-pane").waitFor({ state: "detached" });
  }
}

/** Shows browser spans whose names and values are the texts. */
async function showClientSpans({ page }: ViewerPage): Promise<void> {
  await using atlas = startAtlas();
  atlas.tracer.withSpan("job", "custom", () => {});
  const { id } = atlas.tracer.getTraces()[0]!;
  await page.goto(atlas.viewer);
  await waitForCount(page, "1 trace");
  const now = Date.now();
  const { added } = createCollector(atlas.tracer).receive({
    type: "client:spans",
    traceId: id,
    clock: { offset: 0 },
    spans: TEXTS.map((text, i) => ({
      id: `${i + 1}`.padStart(16, "0"),
      name: text.slice(0, 200),
      layer: "islands",
      startTime: now,
      endTime: now + i,
      attributes: { [text.slice(0, 100)]: text },
      events: [{ name: text.slice(0, 200), time: now }],
    })),
  });
  assertEquals(added, TEXTS.length);
  await page.locator("#trace-list [data-row]").first().click();
  for (const text of TEXTS) {
    await waitUntil(
      page,
      `[...document.querySelectorAll("#waterfall .label")]
        .some((label) => label.textContent.startsWith(${
        JSON.stringify(text.slice(0, 200))
      }))`,
    );
  }
}

/** Opens every nth trace in all views of a trace, from the last one. */
async function lookAtAll(
  page: Page,
  { step = 1, last = TEXTS.length - 1 } = {},
): Promise<void> {
  await waitForCount(page, `${TEXTS.length} traces`);
  for (let i = last; i >= 0; i -= step) await lookAt(page, i, TEXTS[i]!);
}

/** Opens the views of several traces: search, comparison and routes. */
async function lookElsewhere(page: Page): Promise<void> {
  await page.locator("#search").fill("</script>");
  // Rows may move until the search has read all traces.
  const found = TEXTS.filter((text) => text.includes("</script>")).length;
  await waitForCount(page, `${found} of ${TEXTS.length} traces`);
  await clickUntilSelected(page, "#trace-list [data-row]");
  await page.keyboard.press("n");
  await page.locator("#details mark").first().waitFor();
  await page.getByRole("button", { name: "Close the trace" }).click();
  await page.locator("#search").fill("");

  await page.locator("#trace-list").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.locator("#compare-spans [role=row]").nth(1).waitFor();
  await assertUnharmed(page);
  await page.getByRole("button", { name: "Close the comparison" }).click();
  await page.getByRole("button", { name: "Close the trace" }).click();

  await page.locator("#tab-routes").click();
  await page.locator("#route-table [data-row]").nth(TEXTS.length - 1)
    .waitFor();
  await assertUnharmed(page);
  await page.locator("#route-table [data-row]").first().click();
  await page.getByRole("button", { name: /^Remove the filter/ }).waitFor();
  await assertUnharmed(page);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
}

/** Opens one trace and checks that its text appears unchanged. */
async function lookAt(page: Page, i: number, text: string): Promise<void> {
  // OTLP and files contain no lone surrogates. Statements are broken into
  // lines.
  const shows = (selector: string, length: number) => {
    const wanted = [text, text.toWellFormed()].map((text) =>
      text.slice(0, length).replace(/\s+/g, "")
    );
    return waitUntil(
      page,
      `[...document.querySelectorAll(${JSON.stringify(selector)})]
        .map(({ textContent }) => textContent.replace(/\\s+/g, ""))
        .some((found) =>
          ${JSON.stringify(wanted)}.some((text) => found.includes(text)))`,
    );
  };
  const row = page.locator(`#trace-list [data-row="${traceId(i)}"]`);
  await row.hover();
  await shows(`#trace-list [data-row="${traceId(i)}"] .path`, 300);
  await shows(`#trace-list [data-row="${traceId(i)}"] .kind`, 20);
  await row.click();
  await shows(".trace-header h2", 300);
  await page.locator(`#waterfall [data-row="${rootId(i)}"] .label`).click();
  await shows("#details h3", 300);
  await shows("#details .attributes dt", 2000);
  await shows("#details .attributes dd", 2000);
  await shows("#details .events li", 2000);
  await shows("#details .failure h4", 2000);
  await shows("#details .failure pre", 2000);
  await page.locator(`#waterfall [data-row="${childId(i)}"] .label`).click();
  await shows("#details .sql", 1000);
  await assertUnharmed(page);
  if (text.length > 2000) {
    await page.getByRole("region", { name: "Statement" })
      .locator(".show-all").click();
    await shows("#details .sql", Infinity);
  }
  await page.keyboard.press("f");
  await page.locator("#flame").waitFor();
  await shows("#flame canvas th", 120);
  await page.keyboard.press("f");
  await page.locator("#waterfall").waitFor();
  await page.getByRole("button", { name: "Close the trace" }).click();
}

/** Checks that no hostile code has run or could run. */
async function assertUnharmed(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    wasHit: Reflect.get(globalThis, "wasHit"),
    scripts: document.querySelectorAll("script").length,
    elements: [
      ...document.querySelectorAll(
        "a, img, iframe, object, embed, base, form, link:not(head > #viewer-icon), template, b",
      ),
    ].map(({ outerHTML }) => outerHTML),
    attributes: [...document.querySelectorAll("*")].flatMap((element) =>
      [...element.attributes]
        .filter(({ name, value }) =>
          name.startsWith("on") || name === "srcdoc" ||
          ["href", "src", "action"].includes(name) && /script:/.test(value)
        ).map(({ name, value }) => `${name}=${value}`)
    ),
    polluted: Object.keys(Object.prototype),
  }));
  assertEquals(found, {
    wasHit: false,
    scripts: 2,
    elements: [],
    attributes: [],
    polluted: [],
  });
}

function traceId(i: number): string {
  return `c${i}`.padStart(32, "0");
}

function rootId(i: number): string {
  return `a${i}`.padStart(16, "0");
}

function childId(i: number): string {
  return `b${i}`.padStart(16, "0");
}

/** Returns a trace with the text in every place that can hold one. */
function hostileTrace(text: string, i: number): TraceData {
  // Only part of the text where the page shows no more, to keep files small.
  const part = text.slice(0, 3_000);
  const id = traceId(i);
  const startTime = Date.UTC(2026, 2, 14) + i * 1_000;
  const span = (
    also: Pick<SpanData, "id" | "parentId" | "layer" | "attributes">,
  ): SpanData => ({
    traceId: id,
    name: part,
    status: "error",
    startTime,
    endTime: startTime + 10,
    duration: 10,
    children: [],
    events: [
      { name: text, time: startTime + 1, attributes: { [part]: part } },
      {
        name: "exception",
        time: startTime + 2,
        attributes: {
          "exception.type": part,
          "exception.message": part,
          "exception.stacktrace": `${part}\n    at ${text}`,
        },
      },
    ],
    ...also,
  });
  return {
    id,
    rootSpanId: rootId(i),
    startTime,
    endTime: startTime + 10,
    duration: 10,
    spans: new Map([
      [rootId(i), {
        ...span({
          id: rootId(i),
          parentId: null,
          layer: "request",
          attributes: {
            "http.request.method": part,
            "url.path": part,
            "http.route": part,
            "http.response.status_code": 200,
            [part]: text,
          },
        }),
        children: [childId(i)],
      }],
      [
        childId(i),
        span({
          id: childId(i),
          parentId: rootId(i),
          layer: "database",
          attributes: { "db.query.text": text, "url.full": part },
        }),
      ],
    ]),
    metadata: {
      origin: "server",
      method: part,
      pathname: text,
      statusCode: 200,
      routePattern: `${part}/${i}`,
    },
  };
}

let listener: ((event: TraceEvent) => void) | undefined;

/** Returns a tracer that reports these traces unrecorded, so nothing is cut. */
function relay(traces: TraceData[], live: TraceData[] = []): Tracer {
  return Object.assign(createTracer(), {
    getTraces: () => traces,
    getTrace: (id: string) => live.find((trace) => trace.id === id),
    subscribe(fn: typeof listener) {
      listener = fn;
      return () => {
        listener = undefined;
      };
    },
  });
}

function emitLive(trace: TraceData): void {
  const span = trace.spans.get(trace.rootSpanId)!;
  // Skip the start event of long traces: while it is being sent, the server
  // would drop the next message.
  if (span.name.length < 1_000) {
    listener!({ type: "trace:start", traceId: trace.id, span });
  }
  listener!({ type: "trace:end", trace });
}
