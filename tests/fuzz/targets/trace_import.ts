import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { fromOTLP, toChromeTrace, toOTLP } from "@quartet/kit/trace";
import type { SerializedTrace } from "@quartet/kit/trace";
import { decodeBase64, encodeBase64 } from "../../../core/bytes/base64.ts";
import { gzip } from "../../../trace/export/gzip.ts";
import { packTraces } from "../../../trace/export/pack.ts";
import { importText } from "../../../viewer/model/import_file.ts";
import { anyTrace } from "../../trace/export/any_trace.ts";
import { gunzip } from "../../trace/export/gunzip.ts";
import { SeededRandom } from "../../trace/export/random.ts";
import { realisticTraces } from "../../trace/export/realistic.ts";
import { anyJSON } from "../input/json.ts";
import { applyEdits, edits } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";

const FORMS = ["json", "lines", "otlp", "page", "packed page"] as const;

const input = fc.record({
  form: fc.constantFrom(...FORMS),
  seeds: fc.array(fc.nat(), { maxLength: 3 }),
  /** Changes to the file. */
  changes: fc.oneof(fc.constant([]), edits),
  /** Whether the content is changed before it's compressed. */
  isInside: fc.boolean(),
  /** A record of another kind among the traces. */
  foreign: fc.option(anyJSON, { freq: 2 }),
});

type File = typeof input extends fc.Arbitrary<infer T> ? T : never;

export const traceImport = defineTarget(
  "trace-import",
  "a trace file is imported, or an error says what is wrong with it",
  input,
  () => ({
    async check(input) {
      const { form, changes, foreign } = input;
      const text = await fileOf(input);
      let read: SerializedTrace[];
      try {
        read = (await importText(text)).map(({ load }) => load());
      } catch (error) {
        assert(error instanceof TypeError, `${error}`);
        assert(
          /^Cannot (read|unpack) [^]{10,}/.test(error.message),
          error.message,
        );
        assert(error.message.length < 1_000, "the message is short");
        return "refused";
      }
      // An imported trace can be exported.
      await packTraces(read);
      JSON.stringify(toChromeTrace(read));
      if (form === "otlp" && foreign === null) fromOTLP(toOTLP(read));
      if (changes.length === 0 && foreign === null && form === "packed page") {
        assertEquals(read, tracesOf(input), "it's unchanged");
      }
      return `${read.length} read`;
    },
  }),
);

async function fileOf(input: File): Promise<string> {
  const { form, changes, isInside, foreign } = input;
  const traces = tracesOf(input);
  const items = foreign === null ? traces : [...traces, foreign];
  const change = (text: string) => applyEdits(text, changes);
  switch (form) {
    case "json":
      return change(JSON.stringify(items));
    case "lines":
      return change(items.map((item) => JSON.stringify(item)).join("\n"));
    case "otlp":
      return change(
        JSON.stringify([
          toOTLP(traces),
          ...foreign === null ? [] : [foreign],
        ]),
      );
    case "page":
      return change(
        pageOf("json", JSON.stringify(items).replaceAll("<", "\\u003c")),
      );
    case "packed page": {
      const text = await packTraces(traces);
      if (!isInside) return change(pageOf("packed", text));
      const bytes = await gunzip(decodeBase64(text), 1e8);
      const payload = change(new TextDecoder().decode(bytes));
      const packed = await gzip(new TextEncoder().encode(payload));
      return pageOf("packed", encodeBase64(packed));
    }
  }
}

/** OTLP can't represent invalid ids, so these traces come from a tracer. */
function tracesOf({ form, seeds }: File): SerializedTrace[] {
  return form === "otlp"
    ? seeds.flatMap((seed) => realisticTraces(1, 4, seed))
    : seeds.map((seed) => anyTrace(new SeededRandom(seed)));
}

function pageOf(encoding: string, content: string): string {
  return `<!DOCTYPE html><script type="application/json" id="trace-data" data-encoding="${encoding}">${content}</script>`;
}
