import { assert, assertEquals, assertRejects } from "@std/assert";
import { insertTraceData } from "../../trace/export/html.ts";
import { toChromeTrace } from "../../trace/export/chrome.ts";
import { toOTLP } from "../../trace/export/otlp_writer.ts";
import { packTraces } from "../../trace/export/pack.ts";
import { importText } from "../../viewer/model/import_file.ts";
import { sampleTraces } from "./sample_traces.ts";

const traces = sampleTraces({ count: 5, seed: 2 });
const page =
  '<!DOCTYPE html>\n<script type="application/json" id="trace-data" data-encoding="none"></script>' +
  `<script>"<script type=\\"application/json\\" id=\\"trace-data\\""</script>`;

async function imported(text: string) {
  return (await importText(text)).map((entry) => entry.load());
}

Deno.test("importText() reads a trace, a list, and the API's response", async () => {
  assertEquals(await imported(JSON.stringify(traces[0])), [traces[0]!]);
  assertEquals(await imported(JSON.stringify(traces)), traces);
  assertEquals(await imported(JSON.stringify({ traces, total: 5 })), traces);
  assertEquals(await imported(JSON.stringify({ trace: traces[1] })), [
    traces[1]!,
  ]);
  assertEquals(await imported("\uFEFF[]"), []);
});

Deno.test("importText() reads pages exported by the server and by the viewer", async () => {
  const packed = insertTraceData(page, {
    encoding: "packed",
    text: await packTraces(traces),
  });
  assertEquals(await imported(packed), traces);
  const json = insertTraceData(page, {
    encoding: "json",
    text: JSON.stringify(traces),
  });
  assertEquals(await imported(json), traces);
  assertEquals(await imported(page), []);
});

Deno.test("importText() reads back hostile text unchanged", async () => {
  const nasty = '</script><!--\u2028\ud800"';
  const attack = {
    ...traces[0]!,
    spans: traces[0]!.spans.map((span) => ({
      ...span,
      name: nasty,
      attributes: { [nasty]: nasty },
    })),
  };
  const json = insertTraceData(page, {
    encoding: "json",
    text: JSON.stringify([attack]),
  });
  assertEquals(await imported(json), [attack]);
});

Deno.test("importText() reads OTLP as one document and as JSON lines", async () => {
  const whole = await importText(JSON.stringify(toOTLP(traces)));
  const ids = (list: typeof whole) => list.map(({ id }) => id).toSorted();
  assertEquals(ids(whole), traces.map(({ id }) => id).toSorted());
  const lines = traces.map((trace) => JSON.stringify(toOTLP([trace])));
  assertEquals(ids(await importText(`${lines.join("\n")}\n`)), ids(whole));
});

Deno.test("importText() reads back Chrome traces of the kit", async () => {
  const unusual = {
    ...traces[0]!,
    metadata: { ...traces[0]!.metadata, droppedSpans: 3 },
    spans: traces[0]!.spans.map((span) => ({
      ...span,
      droppedAttributes: 1,
      droppedEvents: 2,
      events: [{ name: "x", time: span.startTime, attributes: { n: 1 } }],
    })),
  };
  const written = [unusual, ...traces.slice(1)];
  const read = await imported(JSON.stringify(toChromeTrace(written)));
  const times = (list: typeof written) =>
    list.flatMap(({ startTime, endTime, duration, spans }) => [
      { startTime, endTime, duration },
      ...spans.flatMap(({ startTime, endTime, duration, events }) => [
        { startTime, endTime, duration },
        ...events.map(({ time }) => ({ time })),
      ]),
    ]).flatMap((times) => Object.values<number>(times));
  const others = (list: typeof written) =>
    JSON.stringify(
      list,
      (key, value) => /time$|^duration$/i.test(key) ? undefined : value,
    );
  assertEquals(JSON.parse(others(read)), JSON.parse(others(written)));
  const expected = times(written);
  for (const [i, time] of times(read).entries()) {
    assert(Math.abs(time - expected[i]!) < 0.0005, `${time} ${expected[i]}`);
  }
});

Deno.test("importText() explains what is wrong with a file", async () => {
  const fails = async (text: string, message: string) => {
    const error = await assertRejects(() => importText(text), TypeError);
    assert(error.message.includes(message), error.message);
  };
  await fails("{", "must be JSON");
  await fails("hello\nworld", "must be JSON");
  await fails("<html></html>", "this viewer did not export it");
  await fails("12", "received a number");
  await fails("null", "received null");
  await fails('{"traceEvents":{}}', "traceEvents must be an array");
  await fails(
    '{"traceEvents":[{"ph":"X","pid":1,"name":"a","args":{}}]}',
    "Cannot read the Chrome trace: it isn't an export of the kit",
  );
  await fails('{"a":1}', "");
  await fails(page.replace('"none"', '"zip"'), 'received "zip"');
});
