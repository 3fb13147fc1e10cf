import type { LRUEntry } from "../../core/collections/lru_list.ts";
import { joinSpans, replaces } from "../export/join.ts";
import type {
  SerializedTrace,
  SpanData,
  SpanEvent,
  TraceData,
} from "../types.ts";
import { capacityOf, MAX_EVENTS, sizeOfEvent, sizeOfSpan } from "./limits.ts";
import { toSpanData, toTraceData } from "./trace_data.ts";
import type { TraceRecord } from "./trace_record.ts";

/**
 * The stored parts of a joined trace: the records of this process, and the spans
 * of browsers and other services.
 */
export class TraceGroup implements LRUEntry<TraceGroup> {
  /** The group that changed before this one. */
  older: TraceGroup | undefined = undefined;
  /** The group that changed after this one. */
  newer: TraceGroup | undefined = undefined;
  /** The trace ids that lead to this group. */
  readonly ids: string[] = [];
  /** The links to spans that may still arrive. */
  claims: string[] | undefined;
  readonly #records: TraceRecord[] = [];
  // Most groups have only a record.
  #spans: Map<string, SpanData> | undefined;
  #events: Map<string, SpanEvent[]> | undefined;
  /** The ids of the records' spans, once somebody has asked for one. */
  #recordedIds: Set<string> | undefined;
  #maxSpans: number;
  #spanCount = 0;
  #size = 0;
  #droppedSpans = 0;
  #data: TraceData | undefined;

  /** Creates an empty group for at most this many spans. */
  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  /** Whether it has more parts than one record. */
  get isJoined(): boolean {
    return this.#records.length > 1 || this.#spans !== undefined;
  }

  /** Whether it has no parts. */
  get isEmpty(): boolean {
    return this.#records.length === 0 && this.#spans === undefined;
  }

  /** Whether a span belongs to the ended ones. */
  has(spanId: string): boolean {
    return this.#spans?.has(spanId) || this.#isRecorded(spanId);
  }

  /** Whether a span is here and has no known parent. */
  isTop(spanId: string): boolean {
    const span = this.#spans?.get(spanId);
    const parentId = span === undefined
      ? this.#records.find(({ root }) => root.id === spanId)?.remoteParentId
      : span.parentId;
    return parentId === null || parentId !== undefined && !this.has(parentId);
  }

  #isRecorded(spanId: string): boolean {
    this.#recordedIds ??= new Set(
      this.#records.flatMap(({ spans }) => spans.map(({ id }) => id)),
    );
    return this.#recordedIds.has(spanId);
  }

  /**
   * Adds a record that has ended, as far as it fits. Spans of a browser or
   * another service give way to it, the last ones first.
   */
  addRecord(record: TraceRecord): void {
    this.#data = this.#recordedIds = undefined;
    this.#maxSpans = Math.max(this.#maxSpans, record.host.maxSpansPerTrace);
    this.#makeRoom(record.spanCount, record.size);
    const spans = this.#maxSpans - this.#spanCount;
    const bytes = capacityOf(this.#maxSpans) - this.#size;
    this.#droppedSpans += record.droppedSpans;
    if (record.spanCount > spans || record.size > bytes) {
      this.#droppedSpans += record.trim(
        spans,
        bytes,
        (span) => sizeOfSpan(toSpanData(span, [])),
      );
      if (record.spanCount === 0) return;
    }
    this.#records.push(record);
    this.#spanCount += record.spanCount;
    this.#size += record.size;
  }

  #makeRoom(spans: number, bytes: number): void {
    const isFull = () =>
      this.#spanCount + spans > this.#maxSpans ||
      this.#size + bytes > capacityOf(this.#maxSpans);
    if (this.#spans === undefined || !isFull()) return;
    for (const [id, span] of [...this.#spans].reverse()) {
      if (!isFull()) return;
      this.#spans.delete(id);
      this.#spanCount--;
      this.#size -= sizeOfSpan(span);
      this.#droppedSpans++;
      for (const event of this.#events?.get(id) ?? []) {
        this.#size -= sizeOfEvent(event);
      }
      this.#events?.delete(id);
    }
    // Nothing is left of them, so the group may be empty.
    this.#spans = undefined;
  }

  /**
   * Adds a span of a browser or another service. An ended span replaces an open
   * one. Returns whether it was added.
   */
  addSpan(span: SpanData): boolean {
    const { id } = span;
    const known = this.#spans?.get(id);
    const isKnown = known === undefined
      ? this.#isRecorded(id)
      : !replaces(span, known);
    if (isKnown) return false;
    const size = sizeOfSpan(span) -
      (known === undefined ? 0 : sizeOfSpan(known));
    const isFull = known === undefined && this.#spanCount >= this.#maxSpans;
    this.#data = undefined;
    if (isFull || this.#size + size > capacityOf(this.#maxSpans)) {
      this.#droppedSpans++;
      return false;
    }
    this.#spans ??= new Map();
    this.#spans.set(id, span);
    this.#size += size;
    if (known === undefined) this.#spanCount++;
    return true;
  }

  /** Adds an event to a span. Returns whether it fits. */
  addEvent(spanId: string, event: SpanEvent): boolean {
    const events = this.#events?.get(spanId) ?? [];
    const size = sizeOfEvent(event);
    // Otherwise, early events could leave no room for spans.
    const hasRoom = this.#size + size <= capacityOf(this.#maxSpans) / 2;
    if (events.length >= MAX_EVENTS || !hasRoom) return false;
    this.#data = undefined;
    this.#size += size;
    this.#events ??= new Map();
    this.#events.set(spanId, [...events, event]);
    return true;
  }

  /** Adds all parts of another group, as far as they fit. */
  absorb(other: TraceGroup): void {
    this.#droppedSpans += other.#droppedSpans;
    for (const record of other.#records) {
      this.#droppedSpans -= record.droppedSpans;
      this.addRecord(record);
    }
    for (const span of other.#spans?.values() ?? []) this.addSpan(span);
    for (const [id, events] of other.#events ?? []) {
      for (const event of events) this.addEvent(id, event);
    }
    this.ids.push(...other.ids);
    for (const claim of other.claims ?? []) (this.claims ??= []).push(claim);
  }

  /** Returns the joined trace with the parts of it that are running. */
  read(running: readonly TraceRecord[] = []): TraceData | undefined {
    if (running.length > 0) return this.#join(running);
    return this.#data ??= this.#join([]);
  }

  #join(running: readonly TraceRecord[]): TraceData | undefined {
    const records = [...this.#records, ...running];
    const [first] = records;
    const isOne = records.length === 1 && this.#spans === undefined &&
      this.#events === undefined &&
      this.#droppedSpans === (running.length > 0 ? 0 : first!.droppedSpans);
    if (isOne) return toTraceData(first!);
    let droppedSpans = this.#droppedSpans;
    let maxSpans = this.#maxSpans;
    for (const record of running) {
      droppedSpans += record.droppedSpans;
      maxSpans = Math.max(maxSpans, record.host.maxSpansPerTrace);
    }
    const spans = [
      ...records.sort(byStart).flatMap((record) => [
        ...toTraceData(record).spans.values(),
      ]),
      ...this.#spans?.values() ?? [],
    ];
    if (spans.length === 0) return undefined;
    if (spans.length > maxSpans) {
      droppedSpans += spans.length - maxSpans;
      spans.length = maxSpans;
    }
    return toData(joinSpans(spans.map(this.#withEvents), { droppedSpans }));
  }

  readonly #withEvents = (span: SpanData): SpanData => {
    const added = this.#events?.get(span.id);
    if (added === undefined) return span;
    const events = [...span.events, ...added];
    const kept = events.slice(0, MAX_EVENTS).sort((a, b) => a.time - b.time);
    const dropped = (span.droppedEvents ?? 0) + events.length - kept.length;
    return {
      ...span,
      events: kept,
      ...(dropped > 0 && { droppedEvents: dropped }),
    };
  };
}

/** Returns records in the order of their start, whenever they arrived. */
function byStart(a: TraceRecord, b: TraceRecord): number {
  return a.startTime - b.startTime ||
    Number(a.isContinued) - Number(b.isContinued) ||
    (a.root.id < b.root.id ? -1 : 1);
}

function toData({ spans, ...trace }: SerializedTrace): TraceData {
  return { ...trace, spans: new Map(spans.map((span) => [span.id, span])) };
}
