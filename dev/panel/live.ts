/**
 * The panel's socket. The page sends the ids of its traces, and gets its state
 * whenever that changes. The viewer's own stream would send all traces.
 *
 * @module
 */

import { errorResponse } from "../../core/error_response.ts";
import { PRIVATE_HEADERS } from "../../core/http/private_headers.ts";
import {
  createUpgrader,
  type ServerWebSocket,
} from "../../core/socket/websocket.ts";
import type { ExtraRoute } from "../../trace/http/access.ts";
import type { Tracer } from "../../trace/types.ts";
import { Delay } from "../delay.ts";
import type { Findings } from "../findings/findings.ts";
import { stateOf } from "./state.ts";

/** The time between a change and its message, in milliseconds. */
const PAUSE = 150;
/**
 * The time until the next look, in milliseconds. By then, the change may have
 * turned out to have a cause that is known from other traces.
 */
const SECOND_LOOK = 500;
/** Maximum traces of a page. Later requests take the place of earlier ones. */
const MAX_TRACES = 100;
/** Maximum characters of a page's message. */
const MAX_MESSAGE = 8 * 1024;

/** A page with a panel. */
interface Watcher {
  /** The ids of its traces. The document's is the first one. */
  ids: readonly string[];
  /** The last message. */
  sent: string;
}

/** Creates the panel's socket. */
export function createPanelSocket(
  tracer: Tracer,
  findings: Pick<Findings, "of" | "subscribe">,
) {
  const watchers = new Set<ServerWebSocket<Watcher>>();
  const next = new Delay(look);
  let isChanged = false;
  let stops: readonly (() => void)[] = [];

  function listen(): void {
    stops = [
      tracer.subscribe(schedule, [
        "trace:end",
        "trace:discard",
        "trace:update",
      ]),
      findings.subscribe(schedule),
    ];
  }

  function schedule(): void {
    isChanged = true;
    next.start(PAUSE);
  }

  function look(): void {
    if (isChanged) next.start(SECOND_LOOK);
    isChanged = false;
    watchers.forEach(update);
  }

  function update(ws: ServerWebSocket<Watcher>): void {
    const text = JSON.stringify(stateOf(tracer, ws.data.ids, findings));
    if (text !== ws.data.sent) ws.send(ws.data.sent = text);
  }

  const upgrader = createUpgrader<Watcher>({
    message(ws, message) {
      const ids = typeof message === "string" ? readIds(message) : undefined;
      if (ids === undefined) return ws.close(1008, "Send trace ids as JSON");
      ws.data.ids = ids;
      if (watchers.size === 0) listen();
      watchers.add(ws);
      update(ws);
      schedule();
    },
    close(ws) {
      watchers.delete(ws);
      if (watchers.size > 0) return;
      for (const stop of stops) stop();
      next.cancel();
    },
  });

  /** Answers a page that has no socket. */
  function answer(request: Request): Response {
    const { searchParams } = new URL(request.url);
    const ids = readIds(searchParams.get("ids") ?? "");
    if (ids === undefined) {
      const message = "Send trace ids as JSON: by a WebSocket, or as ids";
      return errorResponse(400, "BAD_REQUEST", message);
    }
    const state = stateOf(tracer, ids, findings);
    return Response.json(state, { headers: PRIVATE_HEADERS });
  }

  /** Answers the request for a socket. */
  const route: ExtraRoute = (request, info) => {
    const data: Watcher = { ids: [], sent: "" };
    upgrader.upgrade(request, { data, info });
    return upgrader.response(request) ?? answer(request);
  };
  return { route, close: () => upgrader.close() };
}

/** Reads a list of trace ids. `undefined` if the text is something else. */
function readIds(text: string): readonly string[] | undefined {
  if (text.length > MAX_MESSAGE) return undefined;
  try {
    const ids: unknown = JSON.parse(text);
    const isList = Array.isArray(ids) && ids.length <= MAX_TRACES &&
      ids.every((id) => typeof id === "string" && /^[\da-f]{32}$/.test(id));
    return isList ? ids : undefined;
  } catch {
    return undefined;
  }
}
