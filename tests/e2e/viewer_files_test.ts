/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assert, assertEquals, assertMatch } from "@std/assert";
import { serializeTrace } from "@quartet/kit/trace";
import { toOTLP } from "../../trace/export/otlp_writer.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { sampleTraces } from "../viewer/sample_traces.ts";
import { type Page, shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  newViewerPage,
  openTrace,
  openViewer,
  recordFailure,
  selectSpan,
  startAtlas,
  waitForCount,
  waitForPlace,
  waitForRows,
  waitForText,
} from "./viewer_page.ts";
import { ask, testViewer } from "./viewer_fixture.ts";

const browser = shareBrowser();

testViewer(
  browser,
  "opens files from the dialog and by drag and drop",
  async ({ page }, atlas) => {
    await using folder = await makeFolder();
    const traces = sampleTraces({ count: 7, seed: 5 });
    const open = async (name: string, text: string) => {
      await folder.write(name, text);
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open files" }).first().click();
      await (await chooser).setFiles(`${folder.path}/${name}`);
    };
    await open("two.json", JSON.stringify(traces.slice(0, 2)));
    await waitForText(page, ".notice", "Added 2 traces from two.json.");
    await waitForCount(page, "2 traces");
    await open("one.otlp.json", JSON.stringify(toOTLP(traces.slice(2, 3))));
    await waitForText(page, ".notice", "Added 1 trace from one.otlp.json.");
    await waitForCount(page, "3 traces");
    await open("three.json", JSON.stringify(traces.slice(0, 3)));
    await waitForText(
      page,
      ".notice",
      "Added 0 traces from three.json. The page already had 3.",
    );
    await open(
      "more.json",
      JSON.stringify([traces[2], traces[6], traces[6]]),
    );
    await waitForText(
      page,
      ".notice",
      "Added 1 trace from more.json. The page already had 1.",
    );
    await waitForCount(page, "4 traces");
    await open("broken.json", `[{"id": 1`);
    await waitForText(page, ".notice.failed", "broken.json: Cannot read");
    await page.getByRole("button", { name: "Close the message" }).click();
    await open("empty.json", "[]");
    await waitForText(page, ".notice.failed", "empty.json holds no traces.");

    await drop(page, {
      "one.json": JSON.stringify(traces[3]),
      "lines.jsonl": traces.slice(4, 6).map((trace) =>
        JSON.stringify(toOTLP([trace]))
      ).join("\n"),
    });
    await waitForText(page, ".notice", "Added 1 trace from one.json.");
    await waitForText(page, ".notice", "Added 2 traces from lines.jsonl.");
    await waitForCount(page, "7 traces");

    // Requests still arrive live.
    await ask(atlas, "/countries/fra");
    await waitForCount(page, "8 traces");
    await openTrace(page, "/countries/fra");
  },
);

testViewer(
  browser,
  "saves traces in four formats and opens its own",
  async (view, atlas) => {
    const { page } = view;
    await using folder = await makeFolder();
    await ask(atlas, "/countries/fra", "/countries/deu");
    recordFailure(atlas.tracer);
    await waitForCount(page, "3 traces");
    const save = async (group: RegExp, format: string) => {
      await page.locator("#export").click();
      const download = page.waitForEvent("download");
      await page.getByRole("group", { name: group })
        .getByRole("menuitem", { name: format }).click();
      const file = await download;
      const path = `${folder.path}/${file.suggestedFilename()}`;
      await file.saveAs(path);
      return { path, text: await Deno.readTextFile(path) };
    };
    const all = /^All listed: 3 traces$/;
    const json = await save(all, "JSON .json");
    assertMatch(json.path, /\/traces\.json$/);
    const serialized = atlas.tracer.getTraces().map(serializeTrace);
    assertEquals(
      JSON.parse(json.text).toSorted(byStart),
      JSON.parse(JSON.stringify(serialized)).toSorted(byStart),
    );
    const otlp = await save(all, "OTLP/JSON");
    assert(Array.isArray(JSON.parse(otlp.text).resourceSpans));
    const chrome = await save(all, "Chrome trace");
    assert(Array.isArray(JSON.parse(chrome.text).traceEvents));
    const html = await save(all, "HTML page");
    assertMatch(html.text, /^<!DOCTYPE html>/);
    assertMatch(html.text, /<link rel="icon" /);

    // The page already has these traces.
    for (const file of [json, otlp, chrome, html]) {
      const name = file.path.split("/").at(-1)!;
      await drop(page, { [name]: file.text });
      await waitForText(
        page,
        ".notice",
        `Added 0 traces from ${name}. The page already had 3.`,
      );
    }
    await waitForCount(page, "3 traces");

    await openTrace(page, "job:report");
    const one = await save(/^This trace$/, "HTML page");
    assertMatch(one.path, /\/trace-[0-9a-f]{8}\.html$/);

    for (
      const [file, count] of [
        [json, 3],
        [otlp, 3],
        [chrome, 3],
        [html, 3],
        [one, 1],
      ] as const
    ) {
      await using other = await openViewer(browser, atlas.viewer);
      await waitForCount(other.page, "3 traces");
      await using empty = startAtlas();
      await other.page.goto(empty.viewer);
      await waitForText(other.page, "#connection", "Live");
      const name = file.path.split("/").at(-1)!;
      await drop(other.page, { [name]: file.text });
      await waitForCount(
        other.page,
        count === 1 ? "1 trace" : `${count} traces`,
      );
      await openTrace(other.page, "job:report");
      await waitForRows(other.page, "#waterfall [data-row]", 4);
    }
  },
);

testViewer(
  browser,
  "copies a span and its request",
  async ({ page }, atlas) => {
    await page.context().grantPermissions([
      "clipboard-read",
      "clipboard-write",
    ]);
    await ask(atlas, "/countries/fra?x=1");
    await waitForCount(page, "1 trace");
    await openTrace(page, "/countries/fra");
    await selectSpan(page, "GET /countries/fra");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await waitForText(page, ".notice", /^Copied/);
    const span = JSON.parse(
      await page.evaluate("navigator.clipboard.readText()"),
    );
    assertEquals(span.name, "GET /countries/fra");
    await page.keyboard.press("Y");
    await waitForText(page, ".notice", /curl/);
    assertMatch(
      await page.evaluate("navigator.clipboard.readText()"),
      new RegExp(`^curl .*${atlas.url}/countries/fra`),
    );
  },
);

testViewer(
  browser,
  "copies a call with the places of its headers and input",
  async ({ page }, atlas) => {
    await page.context().grantPermissions([
      "clipboard-read",
      "clipboard-write",
    ]);
    const headers = { "content-type": "application/json" };
    const input = { code: "FRA" };
    const response = await fetch(`${atlas.url}/api/rpc`, {
      method: "POST",
      headers,
      body: JSON.stringify({
        path: ["countries", "byCode"],
        type: "query",
        input,
      }),
    });
    const answer = await response.text();
    await waitForCount(page, "1 trace");
    await openTrace(page, "/api/rpc/countries.byCode");
    await page.locator("#waterfall").focus();
    await page.keyboard.press("Y");
    await waitForText(
      page,
      ".notice",
      "Copied the request as curl. Put its headers into headers.txt " +
        "and the input of countries.byCode into input.json.",
    );
    const command = await page.evaluate<string>(
      "navigator.clipboard.readText()",
    );
    assertEquals(
      command,
      "curl --request POST " +
        '--header "content-type: application/json" --header "@headers.txt" ' +
        '--data-binary "@input.json" ' +
        `--globoff --url "${atlas.url}/api/rpc/countries.byCode"`,
    );

    if (!await hasCurl()) return;
    // The command gets the same answer.
    await using folder = await makeFolder();
    await folder.write("headers.txt", "x-from: a test\n");
    await folder.write("input.json", JSON.stringify(input));
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", command.replace("curl", "curl --noproxy 127.0.0.1")],
      cwd: folder.path,
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout), answer);
  },
);

async function hasCurl(): Promise<boolean> {
  const { success } = await new Deno.Command("sh", {
    args: ["-c", "command -v curl"],
    stdout: "null",
  }).output();
  return success;
}

Deno.test(
  "The viewer copies text without the Clipboard API",
  async () => {
    await using atlas = startAtlas();
    recordFailure(atlas.tracer);
    await using view = await newViewerPage(browser);
    const { page } = view;
    await page.context().grantPermissions([
      "clipboard-read",
      "clipboard-write",
    ]);
    // As on a page loaded over plain HTTP from another machine.
    await page.addInitScript(() =>
      Object.defineProperty(globalThis, "isSecureContext", { value: false })
    );
    await page.goto(atlas.viewer);
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:report");
    await page.locator("#waterfall").focus();
    await page.keyboard.press("y");
    await waitForText(page, ".notice", "Copied the trace as JSON.");
    const text = await page.evaluate<string>(
      "navigator.clipboard.readText()",
    );
    assertEquals(JSON.parse(text).spans.length, 15);
    await waitForPlace(page, "trace");
    await page.evaluate("document.execCommand = () => false");
    await page.keyboard.press("y");
    await waitForText(page, ".notice.failed", "doesn't let this page copy");
    await assertQuiet(view);
  },
);

async function drop(page: Page, files: Record<string, string>): Promise<void> {
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(files)) {
      data.items.add(new File([text], name));
    }
    for (const type of ["dragover", "drop"]) {
      document.body.dispatchEvent(
        new DragEvent(type, {
          dataTransfer: data,
          bubbles: true,
          cancelable: true,
        }),
      );
    }
  }, files);
}

function byStart(a: { startTime: number }, b: { startTime: number }): number {
  return a.startTime - b.startTime;
}
