/**
 * Creates joined traces of pages, for tests of the list.
 *
 * @module
 */

import { joinSpans } from "../../trace/export/join.ts";
import type { Layer, SerializedTrace, SpanData } from "../../trace/types.ts";

/** Description of a page trace. */
export interface PageOptions {
  /** A number that makes its ids unique. */
  readonly number: number;
  /** The user's action. Default: `load`. */
  readonly action?: "load" | "navigation" | "click";
  /** The factor of all its durations. Default: 1. */
  readonly factor?: number;
  /** Whether its last call fails. Default: `false`. */
  readonly failed?: boolean;
}

const START = Date.UTC(2026, 10, 23, 12);

/**
 * Creates a page whose document is the server's request of another trace, with
 * three calls of a procedure that runs two queries each.
 *
 * @returns The traces of the page and of its document, not joined yet.
 */
export function pagePieces(options: PageOptions): {
  page: SpanData[];
  document: SpanData[];
} {
  const { number, action = "load", factor = 1, failed = false } = options;
  const start = START + number * 5_000;
  const traceIds = [1, 2].map((kind) => hex(kind * 1e6 + number, 32));
  let count = 0;

  function add(
    list: SpanData[],
    parentId: string | null,
    name: string,
    layer: Layer,
    [from, duration]: readonly [number, number],
    attributes: SpanData["attributes"],
    more: Partial<SpanData> = {},
  ): string {
    const startTime = start + from * factor;
    const id = hex(number * 1_000 + ++count, 16);
    list.push({
      id,
      traceId: traceIds[list === page ? 0 : 1]!,
      parentId,
      name,
      layer,
      status: "ok",
      startTime,
      endTime: startTime + duration * factor,
      duration: duration * factor,
      attributes,
      events: [],
      children: [],
      ...more,
    });
    return id;
  }

  const page: SpanData[] = [];
  const document: SpanData[] = [];
  const request = (path: string, route: string, status: number) => ({
    "http.request.method": "GET",
    "url.path": path,
    "http.route": route,
    "http.response.status_code": status,
  });
  const client = { "app.origin": "client" };
  const path = "/countries/fra";
  const server = action === "load"
    ? add(
      document,
      null,
      `GET ${path}`,
      "request",
      [5, 40],
      request(path, "/countries/:code", 200),
    )
    : undefined;
  const name = {
    load: "page:load",
    navigation: `navigation ${path}`,
    click: 'click button "Save"',
  }[action];
  const root = add(page, null, name, "request", [0, 200], {
    ...client,
    "app.action": action,
    "url.path": path,
    ...(server && { "app.link": `00-${traceIds[1]}-${server}-01` }),
  });
  for (let call = 0; call < 3; call++) {
    const at = 60 + call * 30;
    const isFailed = failed && call === 2;
    const fetch = add(page, root, "fetch GET /api/rpc", "request", [at, 40], {
      ...client,
      "http.request.method": "GET",
      "url.path": "/api/rpc",
    });
    const handler = add(
      page,
      fetch,
      "GET /api/rpc",
      "request",
      [at + 5, 30],
      request("/api/rpc", "/api/rpc/notes.list", isFailed ? 500 : 200),
    );
    for (let i = 0; i < 2; i++) {
      add(page, handler, "db.query", "database", [at + 6 + i * 10, 8], {
        "db.query.text": `SELECT * FROM note WHERE id = ${call * 2 + i}`,
      });
    }
    if (!isFailed) continue;
    add(page, handler, "save", "custom", [at + 27, 5], {}, {
      status: "error",
      events: [{
        name: "exception",
        time: start + (at + 30) * factor,
        attributes: {
          "exception.type": "RangeError",
          "exception.message": "The note is too long",
        },
      }],
    });
  }
  return { page, document };
}

/** Creates the joined trace of a page. */
export function pageTrace(options: PageOptions): SerializedTrace {
  const { page, document } = pagePieces(options);
  return joinSpans([...page, ...document]);
}

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, "0");
}
