import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
  TraceMetadata,
} from "../../../trace/types.ts";
import { LAYERS, STATUSES } from "../../../trace/export/semantics.ts";
import type { SeededRandom } from "./random.ts";

const TEXTS = [
  "",
  "db.query",
  "GET /países/日本/🇫🇷",
  "\ud800",
  "a\udc00b\ud83d",
  "\ufeffmark",
  "</script><!--",
  "\u0000\u2028\r\n\"'\\",
  "__proto__",
  "constructor",
  "3",
  "x".repeat(5000),
];

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  200,
  127,
  128,
  2 ** 31,
  2 ** 32 + 1,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e300,
  5e-324,
  0.1,
  -12.5,
];

const TIMES = [0, -0, -1.5, 0.3, 2 ** 41 + 0.5, 1e15, 8.64e15, 1e300];

/** Returns any trace that the types allow, however unlikely. */
export function anyTrace(random: SeededRandom): SerializedTrace {
  const isHex = random.chance(0.7);
  const anyId = (bytes: number) => isHex ? random.hex(bytes) : anyText(random);
  const id = anyId(16);
  const ids = Array.from({ length: random.below(8) }, () => anyId(8));
  if (ids.length > 1 && random.chance(0.2)) ids.push(ids[0] as string);
  const spans = ids.map((spanId): SpanData => {
    const startTime = anyTime(random);
    const endTime = anyTime(random);
    return {
      id: spanId,
      traceId: random.chance(0.95) ? id : anyText(random),
      parentId: random.pick([null, anyId(8), ...ids]),
      name: anyText(random),
      layer: random.pick(LAYERS),
      status: random.pick(STATUSES),
      startTime,
      endTime,
      duration: random.chance(0.5) ? endTime - startTime : anyTime(random),
      attributes: anyAttributes(random),
      events: Array.from(
        { length: random.chance(0.3) ? random.below(4) : 0 },
        () => anyEvent(random),
      ),
      children: [],
      ...(random.chance(0.1) && { droppedAttributes: random.below(300) }),
      ...(random.chance(0.1) && { droppedEvents: random.below(300) }),
    };
  });
  const linked = spans.map((span) => ({
    ...span,
    children: random.chance(0.1)
      ? [random.pick([anyText(random), ...ids])]
      : spans.filter((child) => child.parentId === span.id).map((s) => s.id),
  }));
  return {
    id,
    rootSpanId: random.pick([anyId(8), ...ids]),
    startTime: anyTime(random),
    endTime: anyTime(random),
    duration: anyTime(random),
    spans: linked,
    metadata: anyMetadata(random),
  };
}

/** Returns any text, including problematic characters. */
export function anyText(random: SeededRandom): string {
  if (random.chance(0.5)) return random.pick(TEXTS);
  return Array.from(
    { length: random.below(12) },
    () => String.fromCharCode(random.below(random.pick([128, 0x10000]))),
  ).join("");
}

/** Returns attributes with any keys. */
export function anyAttributes(
  random: SeededRandom,
): Record<string, AttributeValue> {
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [
      anyText(random),
      anyValue(random),
    ]),
  );
}

function anyValue(random: SeededRandom): AttributeValue {
  const kind = random.below(4);
  if (kind === 0) return random.chance(0.5);
  if (kind === 1) return random.pick(NUMBERS);
  if (kind === 2) return random.fraction() * 10 ** random.below(20);
  return anyText(random);
}

function anyEvent(random: SeededRandom): SpanEvent {
  return {
    name: anyText(random),
    time: anyTime(random),
    ...(random.chance(0.5) && { attributes: anyAttributes(random) }),
  };
}

function anyMetadata(random: SeededRandom): TraceMetadata {
  return {
    origin: random.pick(["server", "client"]),
    ...(random.chance(0.5) && { method: anyText(random) }),
    ...(random.chance(0.5) && { pathname: anyText(random) }),
    ...(random.chance(0.5) && { statusCode: random.pick([0, 200, 599, -1]) }),
    ...(random.chance(0.5) && { routePattern: anyText(random) }),
    ...(random.chance(0.2) && { droppedSpans: random.below(1e6) }),
    ...(random.chance(0.2) && { run: random.below(1e6) }),
  };
}

function anyTime(random: SeededRandom): number {
  if (random.chance(0.1)) return random.pick(TIMES);
  return 1.76e12 + random.fraction() * 10 ** random.below(12);
}
