/**
 * Keeps the traces of the last runs of the dev command in `.quartet`, and
 * compares the present run with them.
 *
 * ```text
 * trace:end ──→ writer ──→ .quartet/…jsonl ── next start ──→ past ──→ readings
 *         └──→ samples of the run ── compare ──→ finding, GET …/runs
 * ```
 *
 * @module
 */

import { relative, resolve } from "node:path";
import { printable } from "../../core/redact/printable.ts";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import type { Finding } from "../../trace/finding.ts";
import { earlierOf } from "../../trace/record/host.ts";
import { serializeTrace } from "../../trace/serialize.ts";
import type { TraceData, Tracer } from "../../trace/types.ts";
import { atExit } from "../at_exit.ts";
import { Delay } from "../delay.ts";
import { serveJSON } from "../serve_json.ts";
import { changedFiles, readFileStates } from "./file_states.ts";
import { asSpan, asTrace, headerLine, MAX_CHANGED } from "./lines.ts";
import { createPast, lastHeader, type Limits } from "./past.ts";
import { reporterOf } from "./report.ts";
import { FOLDER, RunFolder } from "./run_folder.ts";
import { RunHistory, type RunRecord } from "./run_history.ts";
import { createWriter } from "./writer.ts";

/** How long requests wait to be compared, in milliseconds. */
const DELAY = 100;
/** Maximum requests that wait. Others aren't compared. */
const MAX_WAITING = 200;

/** Options of {@linkcode startRuns}. */
export interface RunsOptions {
  /** The working directory. */
  readonly cwd: string;
  /** The file of the app. */
  readonly entry: string;
  /** Whether to forget the earlier runs of the app. */
  readonly fresh: boolean;
  /** The limits of the tracer. */
  readonly limits: Limits;
  /** Returns the time in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Called with each route that has become slower. */
  readonly onSlower: (finding: Finding) => void;
}

/** The present run and the earlier ones. */
export interface Runs {
  /** Returns all runs, the present one first. */
  list(): Promise<RunRecord[]>;
  /** Writes the last traces. */
  close(): Promise<void>;
}

/**
 * Adds the traces of earlier runs to the readings of a tracer, and keeps its own
 * traces for the next runs.
 */
export async function startRuns(
  tracer: Tracer,
  { cwd, entry, fresh, limits, now = Date.now, onSlower }: RunsOptions,
): Promise<Runs> {
  const start = now();
  const warn = (text: string) => console.warn(printable(text));
  const onError = ({ message }: Error) =>
    warn(`Traces aren't kept for the next start: ${message}`);
  let isKept = mayKeep(cwd);
  const app = relative(cwd, resolve(cwd, entry));
  const folder = new RunFolder(cwd, app, warn);
  const history = new RunHistory(start);
  const files = isKept
    ? readFileStates(cwd)
    : Promise.resolve(new Map<string, string>());
  const segments = isKept
    ? await folder.read(fresh).catch((error) => {
      isKept = false;
      onError(error);
      return [];
    })
    : [];
  const last = lastHeader(segments);
  const header = files.then((files) => {
    const all = last === undefined ? [] : changedFiles(last.files, files);
    const changed = all.slice(0, MAX_CHANGED);
    history.present.changed = changed;
    return headerLine({ changed, files });
  });
  const asides: Promise<void>[] = [];
  const past = createPast(segments, {
    onSpans: (trace, run) => history.of(run).add(trace),
    onDamage: (path, reason) => asides.push(folder.setAside(path, reason)),
  }, limits);
  const writer = createWriter({ folder, start, header, onError });
  const add = isKept ? writer.add : () => {};
  // The request that made the process fail is the one to look at.
  const removeExit = atExit(writer.flushNow);

  earlierOf.set(tracer, {
    ...past,
    onSpans(spans) {
      const ended = spans.filter((span) => !isOpenSpan(span));
      for (const part of Map.groupBy(ended, (span) => span.traceId).values()) {
        add(() => ({ spans: asTrace(part) }));
      }
    },
    onEvents(events) {
      for (const event of events) {
        add(() => ({ events: asTrace([asSpan(event)]) }));
      }
    },
  });

  const waiting: TraceData[] = [];
  const report = reporterOf(tracer, onSlower);
  function compare(): void {
    past.finish();
    const routes = waiting.splice(0)
      .map((trace) => history.present.samples.add(trace));
    for (const route of new Set(routes)) {
      const comparison = route && history.compare(route);
      if (comparison !== undefined) report(comparison);
    }
  }
  // Off the path of requests. The header knows the changed files.
  const comparing = new Delay(() => header.then(compare));
  const unsubscribe = tracer.subscribe((event) => {
    if (event.type !== "trace:end") return;
    const { trace } = event;
    add(() => ({ spans: serializeTrace(trace) }));
    if (waiting.length < MAX_WAITING) waiting.push(trace);
    comparing.start(DELAY);
  }, ["trace:end"]);

  const list = async () => {
    await header;
    past.finish();
    return history.list();
  };
  serveJSON(tracer, "/runs", async () => ({ runs: await list() }));

  return {
    list,
    async close() {
      unsubscribe();
      removeExit();
      comparing.cancel();
      past.close();
      await Promise.all([writer.close(), header, ...asides]);
    },
  };
}

/** Whether Deno allows to keep traces. Otherwise it would throw, or prompt. */
function mayKeep(cwd: string): boolean {
  if (!("Deno" in globalThis)) return true;
  const needed = [
    { name: "read", path: cwd },
    { name: "write", path: `${cwd}/${FOLDER}` },
  ] as const;
  const isAllowed = needed.every((permission) =>
    Deno.permissions.querySync(permission).state === "granted"
  );
  if (!isAllowed) {
    console.log("Traces aren't kept for the next start without --allow-write");
  }
  return isAllowed;
}
