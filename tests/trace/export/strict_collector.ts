import { assert, assertEquals, assertMatch } from "@std/assert";
import type { OTLPKeyValue, OTLPSpan, OTLPTraces } from "@quartet/kit/trace";
import { gunzip } from "./gunzip.ts";
import { decodeStrictly } from "./otlp_definitions.ts";

/** A span accepted by a {@linkcode StrictCollector}. */
export interface TakenSpan extends Omit<OTLPSpan, "attributes"> {
  /** Name of the service that sent it. */
  readonly service: string;
  /** Attributes by name. */
  readonly attributes: Readonly<Record<string, OTLPKeyValue["value"]>>;
}

/**
 * A local collector for OTLP/HTTP that accepts only what the standard
 * describes.
 */
export class StrictCollector implements AsyncDisposable {
  /** Accepted spans. */
  readonly spans: TakenSpan[] = [];
  /** Reasons why requests were rejected. */
  readonly problems: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => this.#answer(request),
    );
  }

  /** Base URL, without a path. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    try {
      const { method, url, headers } = request;
      assertEquals(method, "POST");
      assertEquals(new URL(url).pathname, "/v1/traces");
      assertEquals(headers.get("content-type"), "application/json");
      const bytes = headers.get("content-encoding") === "gzip"
        ? await gunzip(body, 20 * 1024 * 1024)
        : body;
      const json = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      this.spans.push(...readSpans(decodeStrictly(json)));
      // An empty ExportTraceServiceResponse: full success.
      return Response.json({});
    } catch (error) {
      this.problems.push(String(error));
      return Response.json({ message: String(error) }, { status: 400 });
    }
  }
}

/**
 * Returns the spans of a request, after checking each field against its
 * specification.
 */
export function readSpans({ resourceSpans }: OTLPTraces): TakenSpan[] {
  assert(resourceSpans.length > 0, "an envelope without contents");
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = valuesOf(resource.attributes)["service.name"]?.stringValue;
    assert(service, "a resource without the name of its service");
    return scopeSpans.flatMap(({ scope, spans = [] }) => {
      assert(scope.name, "a scope without a name");
      assert(spans.length > 0, "an envelope without contents");
      return spans.map((span) => ({ ...readSpan(span), service }));
    });
  });
}

function readSpan(span: OTLPSpan): Omit<TakenSpan, "service"> {
  const { traceId, spanId, parentSpanId, name, kind, status } = span;
  checkId(traceId, 32);
  checkId(spanId, 16);
  if (parentSpanId !== undefined) checkId(parentSpanId, 16);
  assert(name !== "", "a span without a name");
  assert(kind >= 1 && kind <= 5, `the kind ${kind}`);
  assert([0, 1, 2].includes(status.code), `the status ${status.code}`);
  // Status.message is for errors only.
  assert(status.code === 2 || status.message === undefined, status.message);
  const start = readTime(span.startTimeUnixNano);
  const end = readTime(span.endTimeUnixNano);
  assert(start <= end, `a span from ${start} to ${end}`);
  for (const event of span.events ?? []) {
    assert(event.name !== "", "an event without a name");
    readTime(event.timeUnixNano);
    valuesOf(event.attributes);
  }
  return { ...span, attributes: valuesOf(span.attributes) };
}

function checkId(id: string, digits: number): void {
  assertEquals(id.length, digits);
  assertMatch(id, /[^0]/);
}

/** Parses a plausible time, set and in nanoseconds. */
function readTime(nanoseconds: string): bigint {
  const time = BigInt(nanoseconds);
  const milliseconds = Number(time / 1_000_000n);
  assert(Math.abs(milliseconds - Date.now()) < 3_600_000, `${nanoseconds} ns`);
  return time;
}

function valuesOf(
  list: readonly OTLPKeyValue[] = [],
): Record<string, OTLPKeyValue["value"]> {
  const values: Record<string, OTLPKeyValue["value"]> = {};
  for (const { key, value } of list) {
    assert(key !== "", "an attribute without a name");
    assert(!Object.hasOwn(values, key), `two attributes ${key}`);
    values[key] = value;
  }
  return values;
}
