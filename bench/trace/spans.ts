/**
 * Measures a span, compared with OpenTelemetry's SDK and with a floor.
 *
 * Run it with `deno task bench trace/spans`.
 *
 * @module
 */

import { context } from "@opentelemetry/api";
import { createTracer } from "@quartet/kit/trace";
import { compare, print } from "../compare.ts";
import {
  contextOf,
  createOpenTelemetry,
  endFloorSpan,
  type FloorSpan,
  floorSpan,
  keepFloorTrace,
  randomTraceId,
} from "./peers.ts";

const tracer = createTracer();
const openTelemetry = createOpenTelemetry();
const SPANS = 10;
let floorIndex = 0;

function floor(): void {
  const traceId = randomTraceId();
  const spans: FloorSpan[] = [];
  const root = floorSpan(traceId, null, "GET /", { method: "GET", path: "/" });
  for (let i = 1; i < SPANS; i++) {
    const span = floorSpan(traceId, root.id, "db.query", {
      "db.system.name": "sqlite",
      "db.response.returned_rows": i,
    });
    endFloorSpan(spans, span);
  }
  endFloorSpan(spans, root);
  keepFloorTrace(spans, floorIndex++);
}

function kit(): void {
  const root = tracer.startTrace("GET /", "request", {
    attributes: { method: "GET", path: "/" },
  });
  for (let i = 1; i < SPANS; i++) {
    root.child("db.query", "database", {
      "db.system.name": "sqlite",
      "db.response.returned_rows": i,
    }).end();
  }
  root.end();
}

function peer(): void {
  const root = openTelemetry.startSpan("GET /", {
    attributes: { method: "GET", path: "/" },
  });
  const parent = contextOf(root);
  for (let i = 1; i < SPANS; i++) {
    openTelemetry.startSpan("db.query", {
      attributes: {
        "db.system.name": "sqlite",
        "db.response.returned_rows": i,
      },
    }, parent).end();
  }
  root.end();
}

print(
  "A stored trace of ten spans, explicit parents",
  await compare({
    "floor": floor,
    "@quartet/kit": kit,
    "@opentelemetry/sdk-trace-base": peer,
  }, { calls: 200 }),
);

/**
 * Measures one additional child span. So many that the root's time doesn't
 * matter.
 */
const MANY = 400;
const roomy = createTracer({ maxSpansPerTrace: MANY + 1 });

print(
  "A child span with two attributes",
  await compare({
    "floor": () => {
      const spans: FloorSpan[] = [];
      for (let i = 0; i < MANY; i++) {
        const span = floorSpan("", "", "db.query", {
          "db.system.name": "sqlite",
          "db.response.returned_rows": i,
        });
        endFloorSpan(spans, span);
      }
      keepFloorTrace(spans, floorIndex++);
    },
    "@quartet/kit, attributes when opened": () => {
      const root = roomy.startTrace("GET /");
      for (let i = 0; i < MANY; i++) {
        root.child("db.query", "database", {
          "db.system.name": "sqlite",
          "db.response.returned_rows": i,
        }).end();
      }
      root.end();
    },
    "@quartet/kit, attributes set later": () => {
      const root = roomy.startTrace("GET /");
      for (let i = 0; i < MANY; i++) {
        const span = root.child("db.query", "database");
        span.setAttribute("db.system.name", "sqlite");
        span.setAttribute("db.response.returned_rows", i);
        span.end();
      }
      root.end();
    },
    "@opentelemetry/sdk-trace-base": () => {
      const root = openTelemetry.startSpan("GET /");
      const parent = contextOf(root);
      for (let i = 0; i < MANY; i++) {
        openTelemetry.startSpan("db.query", {
          attributes: {
            "db.system.name": "sqlite",
            "db.response.returned_rows": i,
          },
        }, parent).end();
      }
      root.end();
    },
  }, { operations: MANY, calls: 5 }),
);

/**
 * Creates ten spans, each within the previous one, as `withSpan` nests them.
 */
function nestFloor(
  spans: FloorSpan[],
  traceId: string,
  parentId: string | null,
  depth: number,
): void {
  if (depth === 0) return;
  const span = floorSpan(traceId, parentId, "step", { "step.depth": depth });
  nestFloor(spans, traceId, span.id, depth - 1);
  endFloorSpan(spans, span);
}

function nestKit(depth: number): void {
  if (depth === 0) return;
  tracer.withSpan("step", "custom", () => nestKit(depth - 1), {
    attributes: { "step.depth": depth },
  });
}

function nestPeer(depth: number): void {
  if (depth === 0) return;
  const options = { attributes: { "step.depth": depth } };
  openTelemetry.startActiveSpan("step", options, (span) => {
    nestPeer(depth - 1);
    span.end();
  });
}

print(
  "A span of ten that nest by withSpan",
  await compare({
    "floor": () => {
      const spans: FloorSpan[] = [];
      nestFloor(spans, randomTraceId(), null, SPANS);
      keepFloorTrace(spans, floorIndex++);
    },
    "@quartet/kit": () => nestKit(SPANS),
    "@opentelemetry/sdk-trace-base": () => nestPeer(SPANS),
  }, { operations: SPANS, calls: 100 }),
);

async function nestKitAsync(depth: number): Promise<void> {
  if (depth === 0) return;
  await tracer.withSpan("step", "custom", () => nestKitAsync(depth - 1), {
    attributes: { "step.depth": depth },
  });
}

async function nestPeerAsync(depth: number): Promise<void> {
  if (depth === 0) return;
  const options = { attributes: { "step.depth": depth } };
  await openTelemetry.startActiveSpan("step", options, async (span) => {
    await nestPeerAsync(depth - 1);
    span.end();
  });
}

async function nestFloorAsync(
  spans: FloorSpan[],
  traceId: string,
  parentId: string | null,
  depth: number,
): Promise<void> {
  if (depth === 0) return;
  const span = floorSpan(traceId, parentId, "step", { "step.depth": depth });
  await nestFloorAsync(spans, traceId, span.id, depth - 1);
  endFloorSpan(spans, span);
}

print(
  "The same with async functions",
  await compare({
    "floor": async () => {
      const spans: FloorSpan[] = [];
      await nestFloorAsync(spans, randomTraceId(), null, SPANS);
      keepFloorTrace(spans, floorIndex++);
    },
    "@quartet/kit": () => nestKitAsync(SPANS),
    "@opentelemetry/sdk-trace-base": () => nestPeerAsync(SPANS),
  }, { operations: SPANS, calls: 100 }),
);

context.disable();
