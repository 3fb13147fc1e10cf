/**
 * The live stream of a running server.
 *
 * The first message after a pause is drawn in the next frame. Later ones are
 * drawn at most seven times a second, which bounds the work for a busy server.
 *
 * @module
 */

import { batch, signal } from "@preact/signals";
import { trimEnd } from "../../core/trim_end.ts";
import { joinSpans } from "../../trace/export/join.ts";
import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { readTraces } from "../model/import_file.ts";
import { summarize, type TraceEntry } from "../model/summary.ts";
import * as traces from "./traces.ts";

/** The connection to the server. */
export type Connection =
  /** None: the page is a file. */
  | { readonly kind: "file" }
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** Lost. The page tries again at `retryAt`, in epoch milliseconds. */
  | { readonly kind: "lost"; readonly retryAt: number };

/** The connection to the server. */
export const connection = signal<Connection>({ kind: "file" });

/** The number of traces that this page missed because it read too slowly. */
export const droppedCount = signal(0);

/** The paths that the server's dev command adds. Empty without one. */
export const addedPaths = signal<readonly string[]>([]);

type Message =
  | {
    readonly type: "initial";
    readonly traces: readonly SerializedTrace[];
    readonly routes?: readonly string[];
  }
  | { readonly type: "trace:start"; readonly span: SpanData }
  | {
    readonly type: "trace:end" | "trace:update";
    readonly trace: SerializedTrace;
  }
  | { readonly type: "trace:discard"; readonly rootSpanId: string }
  | { readonly type: "dropped"; readonly count: number };

/** The minimum time between two drawings, in milliseconds. */
const REST = 150;

const FIRST_RETRY = 500;
const LAST_RETRY = 15_000;

let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let queue: string[] = [];
/** The time of the last drawing, on the clock of `performance`. */
let appliedAt = -Infinity;

/** Returns the path of the viewer, without a slash at the end. */
export function base(): string {
  return trimEnd(location.pathname, "/");
}

/** Connects, and keeps connecting. */
export function startLive(): void {
  addEventListener("online", reconnect);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") applyQueue();
  });
  connect();
}

/** Tries again now. */
export function reconnect(): void {
  if (connection.value.kind !== "lost") return;
  clearTimeout(timer);
  connect();
}

/** Requests one trace by its id from the server, and adds it if it exists. */
export async function fetchTrace(id: string): Promise<void> {
  // A missing trace by `id` would be a 404 in the browser's console.
  const answer = await askServer(`/api?traceId=${encodeURIComponent(id)}`);
  if (answer !== undefined) traces.addEntries(readEntries(answer));
}

/**
 * Requests JSON from the server.
 *
 * @param path The path below the viewer's.
 * @returns The JSON, or `undefined` without an answer.
 */
export async function askServer(path: string): Promise<unknown> {
  try {
    const response = await fetch(base() + path);
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Returns entries, the oldest first. */
function readEntries(answer: unknown): TraceEntry[] {
  return readTraces(answer).map(summarize)
    .sort((a, b) => a.startTime - b.startTime);
}

function connect(): void {
  connection.value = { kind: "connecting" };
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}${base()}/ws`);
  socket.onmessage = ({ data }) => receive(data);
  socket.onclose = () => {
    failures++;
    if (traces.dataState.value.kind === "loading" && failures === 1) {
      fetchRecent();
    }
    const delay = Math.min(FIRST_RETRY * 2 ** (failures - 1), LAST_RETRY);
    // With jitter, so that not all pages reconnect at once.
    const jittered = delay * (0.75 + Math.random() / 2);
    connection.value = { kind: "lost", retryAt: Date.now() + jittered };
    // Their ends are missed.
    traces.pending.value = [];
    timer = setTimeout(connect, jittered);
  };
}

function receive(data: string): void {
  if (queue.push(data) > traces.MAX_TRACES) queue.shift();
  // The first one has scheduled the drawing.
  if (queue.length > 1) return;
  // A hidden page gets no frames, so the queue is bounded.
  const draw = () => requestAnimationFrame(applyQueue);
  const rest = appliedAt + REST - performance.now();
  if (rest > 0) setTimeout(draw, rest);
  else draw();
}

function applyQueue(): void {
  appliedAt = performance.now();
  const messages = queue;
  queue = [];
  const started: TraceEntry[] = [];
  const ended: TraceEntry[] = [];
  const discarded = new Set<string>();
  batch(() => {
    for (const message of messages) {
      try {
        readMessage(JSON.parse(message), started, ended, discarded);
      } catch (error) {
        console.warn("Ignored a malformed message of the trace stream", error);
      }
    }
    traces.addPending(started);
    traces.discardPending(discarded);
    if (ended.length > 0) traces.receiveEntries(ended);
  });
}

function readMessage(
  message: Message,
  started: TraceEntry[],
  ended: TraceEntry[],
  discarded: Set<string>,
): void {
  switch (message.type) {
    case "initial":
      failures = 0;
      connection.value = { kind: "live" };
      addedPaths.value = message.routes ?? [];
      show(readEntries(message.traces));
      break;
    case "trace:start":
      // The trace so far is that span.
      started.push({
        ...summarize(joinSpans([message.span])),
        pending: true,
      });
      break;
    case "trace:end":
    case "trace:update":
      ended.push(...readEntries({ trace: message.trace }));
      break;
    case "trace:discard":
      discarded.add(message.rootSpanId);
      break;
    case "dropped":
      droppedCount.value += message.count;
  }
}

/** Lists the traces of a server that has no stream. */
async function fetchRecent(): Promise<void> {
  const answer = await askServer(`/api?limit=${traces.MAX_TRACES}`);
  if (answer !== undefined) show(readEntries(answer));
}

function show(entries: readonly TraceEntry[]): void {
  traces.addEntries(entries);
  traces.dataState.value = { kind: "ready" };
}
