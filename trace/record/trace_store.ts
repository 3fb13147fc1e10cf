import { LRUList } from "../../core/collections/lru_list.ts";
import { linksOf, type SpanReference } from "../export/semantics.ts";
import type { RemoteEvent, SpanData, TraceData } from "../types.ts";
import { sizeOfEvent, TRACE_SIZE } from "./limits.ts";
import { TraceGroup } from "./trace_group.ts";
import type { TraceRecord } from "./trace_record.ts";

/** Events whose trace isn't stored yet. The oldest are dropped first. */
class WaitingEvents {
  #events: RemoteEvent[] = [];
  #size = 0;

  /** Adds an event. Returns whether it fits. */
  add(item: RemoteEvent): boolean {
    const size = sizeOfEvent(item.event);
    if (size > TRACE_SIZE) return false;
    this.#events.push(item);
    this.#size += size;
    let surplus = 0;
    while (this.#size > TRACE_SIZE) {
      this.#size -= sizeOfEvent(this.#events[surplus++]!.event);
    }
    this.#events.splice(0, surplus);
    return true;
  }

  /** Removes and returns the events of a trace. */
  take(traceId: string): RemoteEvent[] {
    if (this.#events.length === 0) return [];
    const { taken = [], rest = [] } = Object.groupBy(
      this.#events,
      (item) => item.traceId === traceId ? "taken" : "rest",
    );
    this.#events = rest;
    for (const { event } of taken) this.#size -= sizeOfEvent(event);
    return taken;
  }
}

/** Records are grouped at once if so many are waiting. */
const BATCH = 64;

/** Maximum links of a trace to other traces. */
const MAX_LINKS = 2_000;

/**
 * Stores the last traces of a tracer.
 *
 * ```text
 *  a request ends → pending records ── on a read ──→ groups ── join ──→ trace
 *                                                      ↑
 *                   spans of browsers and services ────┘
 * ```
 *
 * Most records are never read. So the end of a request only adds its record to
 * a list. A group has everything with one trace id, and with the ids that its
 * spans link to.
 *
 * | part                       | is kept in | until                               |
 * | -------------------------- | ---------- | ----------------------------------- |
 * | running record             | the tracer | it ends; each read gets all of them |
 * | ended record               | `#pending` | a read, or the store is full        |
 * | link to a span             | `#claims`  | the group is evicted                |
 * | trace of a linked span     | `#groups`  | the group with the claim absorbs it |
 * | event of a trace not known | `#waiting` | the trace's first part arrives      |
 */
export class TraceStore {
  readonly #maxTraces: number;
  readonly #maxSpans: number;
  /** Ended records that belong to no group yet. */
  readonly #pending = new LRUList<TraceRecord>();
  /** Whether two pending records may belong together. */
  #hasContinued = false;
  readonly #groups = new LRUList<TraceGroup>();
  /** The groups of traces whose parts may arrive later. */
  readonly #shared = new Set<TraceGroup>();
  /** The groups by each of their ids, in order of their first part. */
  readonly #byId = new Map<string, TraceGroup>();
  /** The groups that link to a span, by its ids. */
  readonly #claims = new Map<string, TraceGroup>();
  readonly #waiting = new WaitingEvents();

  /** Creates a store for at most this many traces and spans of each. */
  constructor(maxTraces: number, maxSpans: number) {
    this.#maxTraces = maxTraces;
    this.#maxSpans = maxSpans;
  }

  /** Adds a record that has ended. Above the limit, the oldest trace goes. */
  push(record: TraceRecord): void {
    this.#pending.add(record);
    if (record.isContinued) this.#hasContinued = true;
    if (this.#pending.size + this.#groups.size <= this.#maxTraces) return;
    if (this.#hasContinued || this.#shared.size > 0) {
      if (this.#pending.size >= BATCH) this.#settle();
    } else if (this.#groups.size > 0) this.#evict();
    else this.#pending.delete(this.#pending.oldest!);
  }

  /** Applies the links of a record that has started. It may run for long. */
  start(record: TraceRecord): void {
    const { links } = record;
    if (links.length === 0) return;
    const { id: traceId, root } = record;
    this.#link(this.#groupFor(traceId), { traceId, spanId: root.id }, links);
    // The record may be too short to be pushed.
    while (this.#groups.size > this.#maxTraces) this.#evict();
  }

  /** Moves the pending records into groups. */
  #settle(): void {
    let record: TraceRecord | undefined;
    while ((record = this.#pending.oldest) !== undefined) {
      this.#pending.delete(record);
      const group = this.#groupFor(record.id);
      group.addRecord(record);
      if (record.isContinued) this.#shared.add(group);
      const { links } = record;
      if (links.length === 0 && this.#claims.size === 0) continue;
      const { traceId, id: spanId } = record.root;
      this.#link(group, { traceId, spanId }, links);
    }
    this.#hasContinued = false;
    while (this.#groups.size > this.#maxTraces) this.#evict();
  }

  /** Returns the group of a trace id, as the one that changed last. */
  #groupFor(traceId: string): TraceGroup {
    const known = this.#byId.get(traceId);
    if (known !== undefined) {
      this.#groups.use(known);
      return known;
    }
    const group = new TraceGroup(this.#maxSpans);
    group.ids.push(traceId);
    this.#byId.set(traceId, group);
    this.#groups.add(group);
    for (const { spanId, event } of this.#waiting.take(traceId)) {
      group.addEvent(spanId, event);
    }
    return group;
  }

  #evict(): void {
    const group = this.#groups.oldest!;
    this.#remove(group);
    for (const id of group.ids) this.#byId.delete(id);
    for (const claim of group.claims ?? []) this.#claims.delete(claim);
  }

  #remove(group: TraceGroup): void {
    this.#groups.delete(group);
    this.#shared.delete(group);
  }

  /** Joins the group of a new span with those that it links to or from. */
  #link(
    group: TraceGroup,
    span: SpanReference,
    links: readonly SpanReference[],
  ): void {
    for (const link of links) {
      if (link.traceId === span.traceId) continue;
      if ((group.claims?.length ?? 0) >= MAX_LINKS) break;
      const key = keyOf(link);
      if (this.#claims.has(key)) continue;
      this.#shared.add(group);
      this.#claims.set(key, group);
      (group.claims ??= []).push(key);
      this.#merge(group, link);
    }
    const claimant = this.#claims.get(keyOf(span));
    if (claimant !== undefined) this.#merge(claimant, span);
  }

  /** Moves the trace of a linked span to the group that links to it. */
  #merge(group: TraceGroup, { traceId, spanId }: SpanReference): void {
    const target = this.#byId.get(traceId);
    if (target === undefined || target === group) return;
    // The first link to a trace wins.
    if (target.ids[0] !== traceId || !target.isTop(spanId)) return;
    this.#remove(target);
    group.absorb(target);
    this.#shared.add(group);
    for (const id of target.ids) this.#byId.set(id, group);
    for (const claim of target.claims ?? []) this.#claims.set(claim, group);
    this.#groups.use(group);
  }

  /**
   * Adds spans of browsers or other services.
   *
   * @returns The added ones.
   */
  addSpans(spans: readonly SpanData[]): SpanData[] {
    if (spans.length === 0) return [];
    this.#settle();
    const added = spans.filter((span) => {
      const group = this.#groupFor(span.traceId);
      const isAdded = group.addSpan(span);
      if (isAdded) this.#shared.add(group);
      // A full trace takes its linked requests as well, and counts their spans.
      if (isAdded || !group.has(span.id)) {
        const { traceId, id: spanId } = span;
        this.#link(group, { traceId, spanId }, linksOf(span));
      }
      return isAdded;
    });
    while (this.#groups.size > this.#maxTraces) this.#evict();
    return added;
  }

  /** Adds events to spans. Returns how many are kept. */
  addEvents(events: readonly RemoteEvent[]): number {
    this.#settle();
    return events.filter((item) => {
      const group = this.#byId.get(item.traceId);
      return group?.addEvent(item.spanId, item.event) ??
        this.#waiting.add(item);
    }).length;
  }

  /** Returns the trace with an id, with its running parts. */
  read(
    traceId: string,
    running: Iterable<TraceRecord>,
  ): TraceData | undefined {
    this.#settle();
    const records = [...running];
    const group = this.#byId.get(traceId) ??
      this.#groupOf(records.find(({ knownId }) => knownId === traceId)) ??
      new TraceGroup(this.#maxSpans);
    return group.read(
      records.filter((record) =>
        record.knownId === traceId || this.#groupOf(record) === group
      ),
    );
  }

  /** Returns all stored traces, oldest first, with their running parts. */
  readAll(running: Iterable<TraceRecord>): TraceData[] {
    this.#settle();
    const parts = Map.groupBy(running, (record) => this.#groupOf(record));
    return Array.from(
      new Set(this.#byId.values()),
      (group) => group.read(parts.get(group)),
    ).filter((trace) => trace !== undefined);
  }

  /**
   * Returns the first id of the stored trace with an id. `undefined` if there is
   * none, also for pending records.
   */
  firstIdOf(traceId: string): string | undefined {
    return this.#byId.get(traceId)?.ids[0];
  }

  /** Whether nothing of a trace has ended. */
  isEmpty(traceId: string): boolean {
    return this.#byId.get(traceId)?.isEmpty ?? true;
  }

  /** Whether a stored trace has other parts than a record. */
  hasPartsBeside({ id }: TraceRecord, isStored: boolean): boolean {
    this.#settle();
    const group = this.#byId.get(id);
    return group !== undefined && (group.isJoined || !isStored);
  }

  /** Returns the group that a running record belongs to. */
  #groupOf(record: TraceRecord | undefined): TraceGroup | undefined {
    // Nobody can refer to an id that wasn't read.
    const traceId = record?.knownId;
    if (record === undefined || traceId === undefined) return undefined;
    return this.#byId.get(traceId) ??
      this.#claims.get(keyOf({ traceId, spanId: record.root.id }));
  }
}

function keyOf({ traceId, spanId }: SpanReference): string {
  return `${traceId}-${spanId}`;
}
