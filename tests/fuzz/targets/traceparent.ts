import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { createApp } from "@quartet/kit/app";
import { createTracer, traceMiddleware } from "@quartet/kit/trace";
import { mutated, piece } from "../input/mutate.ts";
import { asHeader, requestOf } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const hex = (length: number) =>
  fc.oneof(
    {
      arbitrary: fc.string({
        unit: fc.constantFrom(..."0123456789abcdef"),
        minLength: length,
        maxLength: length,
      }),
      weight: 8,
    },
    {
      arbitrary: fc.constantFrom("0", "f", "F").map((c) => c.repeat(length)),
      weight: 1,
    },
    {
      arbitrary: fc.string({
        unit: fc.constantFrom(..."0aAfFgG-"),
        maxLength: length + 1,
      }),
      weight: 1,
    },
  );

const input = fc.record({
  header: fc.oneof(
    mutated(
      fc.tuple(
        fc.constantFrom("00", "01", "cc", "ff", "0", "-1"),
        hex(32),
        hex(16),
        hex(2),
        fc.constantFrom("", "", "", "-", "-x", "x", "\u00e9"),
      ).map(([version, trace, parent, flags, rest]) =>
        `${version}-${trace}-${parent}-${flags}${rest}`
      ),
    ),
    piece,
  ),
  tracestate: fc.option(mutated(fc.constant("a=1,b@c=2"))),
});

export const traceparent = defineTarget(
  "traceparent",
  "a trace continues only with a header that is valid by the standard",
  input,
  () => {
    return {
      async check({ header, tracestate }) {
        // Requests with the same trace id would become one trace.
        const tracer = createTracer();
        await using app = createApp().use(traceMiddleware(tracer)).route({
          path: "/",
          handler: () => new Response("here"),
        });
        const headers: Record<string, string> = {
          traceparent: asHeader(header),
        };
        if (tracestate !== null) headers["tracestate"] = asHeader(tracestate);
        const request = requestOf("/", { headers });
        if (request === undefined) return "not sent";
        const response = await app.fetch(request);
        assertEquals([response.status, await response.text()], [200, "here"]);
        const id = response.headers.get("x-app-trace-id")!;
        assert(/^(?!0+$)[0-9a-f]{32}$/.test(id), id);
        const trace = tracer.getTrace(id)!;
        const parent = trace.spans.get(trace.rootSpanId)!.parentId;
        const expected = read(request.headers.get("traceparent")!);
        if (expected === undefined) {
          assertEquals(parent, null);
          assert(
            !headers["traceparent"]!.includes(id),
            "it has a separate id",
          );
          return "anew";
        }
        assertEquals([id, parent], expected);
        return "goes on";
      },
    };
  },
);

/**
 * Parses the header by the standard (W3C Trace Context, sections 3.2.2 and
 * 4.3).
 */
function read(header: string): [trace: string, parent: string] | undefined {
  const [version, trace, parent, flags, ...rest] = header.split("-");
  const isHex = (text: string | undefined, length: number) =>
    text?.length === length && [...text].every((c) => HEX.includes(c));
  if (!isHex(version, 2) || version === "ff") return undefined;
  if (!isHex(trace, 32) || !isHex(parent, 16)) return undefined;
  if (!isHex(flags, 2)) return undefined;
  if (version === "00" && rest.length > 0) return undefined;
  if (/^0+$/.test(trace!) || /^0+$/.test(parent!)) return undefined;
  return [trace!, parent!];
}

const HEX = "0123456789abcdef";
