import type { LRUEntry } from "../../core/collections/lru_list.ts";
import {
  LINK,
  parseLink,
  type SpanReference,
  UPGRADE_LINK,
} from "../export/semantics.ts";
import { capacityOf, ESSENTIAL, ESSENTIAL_SIZE } from "./limits.ts";
import { noopSpan } from "../noop_tracer.ts";
import { SkippedSpan } from "./unrecorded_spans.ts";
import { SpanImpl } from "./span.ts";
import type { SpanTrace, TraceHost } from "./host.ts";
import type { TraceSettings } from "./tracer_options.ts";
import type {
  Attributes,
  Layer,
  Span,
  TraceData,
  TraceOptions,
} from "../types.ts";

/**
 * A trace while it runs and after.
 *
 * It keeps the spans in order of their start. Most traces are never read, so
 * the public record is created on demand.
 */
export class TraceRecord implements LRUEntry<TraceRecord>, SpanTrace {
  /** The tracer. */
  host: TraceHost;
  /** The span around the whole operation, the first of the list of spans. */
  readonly root: SpanImpl;
  /** The epoch time at which the monotonic clock read 0. */
  readonly origin: number;
  /** The calling span of another service, if there is one. */
  readonly remoteParentId: string | null;
  /** Whether it continues a trace that others may have parts of. */
  readonly isContinued: boolean;
  /** The record before this one, among the running or the pending ones. */
  older: TraceRecord | undefined = undefined;
  /** The record after this one, in the same list. */
  newer: TraceRecord | undefined = undefined;
  /** The number of recorded spans. */
  spanCount = 1;
  /** The bytes of attributes and events, roughly. */
  size = 0;
  /** The number of dropped spans. */
  droppedSpans = 0;
  /** The public record, after the trace's end and on demand. */
  data: TraceData | undefined = undefined;
  /** The trace id if it was read before. */
  knownId: string | undefined;
  #last: SpanImpl;
  readonly #capacity: number;
  #errors: WeakSet<object> | undefined = undefined;
  #lastThrown: unknown = undefined;

  /** Starts a trace with its root span. */
  constructor(
    host: TraceHost,
    name: string,
    layer: Layer,
    options: TraceOptions | undefined,
  ) {
    const startedAt = host.clock.monotonic();
    this.host = host;
    this.origin = host.originAt(startedAt);
    this.#capacity = capacityOf(host.maxSpansPerTrace);
    this.knownId = options?.traceId;
    this.isContinued = this.knownId !== undefined;
    this.remoteParentId = options?.parentId ?? null;
    this.root = new SpanImpl(this, null, name, layer, startedAt);
    this.#last = this.root;
    const attributes = options?.attributes;
    if (layer !== "request") {
      this.root.stack = host.locator?.capture(name, attributes, TraceRecord);
    }
    setAttributes(this.root, attributes);
  }

  /** The recorded spans, in order of their start. */
  get spans(): SpanImpl[] {
    const spans: SpanImpl[] = [];
    for (let s: SpanImpl | undefined = this.root; s !== undefined; s = s.next) {
      spans.push(s);
    }
    return spans;
  }

  /** 32 lower-case hex digits. */
  get id(): string {
    return this.knownId ??= this.host.ids.traceId();
  }

  /** The start, in epoch milliseconds. */
  get startTime(): number {
    return this.origin + this.root.startedAt;
  }

  /** The spans that the first span links to. */
  get links(): SpanReference[] {
    const links: SpanReference[] = [];
    for (let a = this.root.attributes; a !== undefined; a = a.next) {
      if (a.key !== LINK && a.key !== UPGRADE_LINK) continue;
      const link = parseLink(a.value);
      if (link !== undefined) links.push(link);
    }
    return links;
  }

  /** Whether the trace has not ended. */
  get isRunning(): boolean {
    return this.root.isOpen;
  }

  /** The time, in epoch milliseconds. */
  now(): number {
    return this.origin + this.host.clock.monotonic();
  }

  /** Makes the rest of the trace follow other settings. */
  follow(settings: Partial<TraceSettings>): void {
    this.host = { ...this.host, ...settings };
  }

  /** Opens a span below `parent` or its nearest open ancestor. */
  openSpan(
    parent: SpanImpl,
    name: string,
    layer: Layer,
    attributes: Attributes | undefined,
  ): Span {
    if (!this.root.isOpen) return noopSpan;
    while (!parent.isOpen) parent = parent.parent!;
    const { host } = this;
    if (!host.records(layer)) return new SkippedSpan(parent);
    if (this.spanCount >= host.maxSpansPerTrace) {
      this.droppedSpans++;
      return new SkippedSpan(parent);
    }
    const startedAt = host.clock.monotonic();
    const span = new SpanImpl(this, parent, name, layer, startedAt);
    this.#last = this.#last.next = span;
    this.spanCount++;
    span.stack = host.locator?.capture(name, attributes, this.openSpan);
    setAttributes(span, attributes);
    host.onSpanStart(span);
    return span;
  }

  /** Called when a span has ended. The root ends the trace. */
  onSpanEnd(span: SpanImpl): void {
    const isRoot = span === this.root;
    if (isRoot) this.#timeOutOpenSpans(span.endedAt);
    this.host.onSpanEnd(span);
    if (!isRoot) return;
    this.#errors = this.#lastThrown = undefined;
    this.host.onTraceEnd(this);
  }

  #timeOutOpenSpans(endedAt: number): void {
    for (let s: SpanImpl | undefined = this.root; s !== undefined; s = s.next) {
      if (!s.isOpen) continue;
      s.endedAt = endedAt;
      if (s.status === "ok") s.status = "timeout";
      this.host.onSpanEnd(s);
    }
  }

  /**
   * Whether an error wasn't recorded on a span of this trace before. An error
   * that passes through several spans is recorded once. For thrown strings and
   * numbers, only the last one is remembered.
   */
  isNewError(error: unknown): boolean {
    if (typeof error === "object" && error !== null) {
      const errors = this.#errors ??= new WeakSet();
      if (errors.has(error)) return false;
      errors.add(error);
      return true;
    }
    if (this.#lastThrown === error) return false;
    this.#lastThrown = error;
    return true;
  }

  /** Reserves `size` bytes, or returns `false` if they don't fit. */
  charge(size: number, purpose: string): boolean {
    const left = this.#capacity - this.size - size;
    // `size` is NaN if untyped code passes a key without a length.
    const fits = left >= ESSENTIAL_SIZE ||
      left >= 0 && ESSENTIAL.has(purpose);
    if (fits) this.size += size;
    return fits;
  }

  /**
   * Removes the last spans, so that the others fit into what is left of their
   * joined trace. Only for a record that has ended.
   *
   * @returns The number of removed spans.
   */
  trim(
    maxSpans: number,
    maxBytes: number,
    sizeOf: (span: SpanImpl) => number,
  ): number {
    const before = this.spanCount;
    let last: SpanImpl | undefined;
    let size = 0;
    this.spanCount = 0;
    for (const span of this.spans) {
      const next = size + sizeOf(span);
      if (this.spanCount >= maxSpans || next > maxBytes) break;
      size = next;
      last = span;
      this.spanCount++;
    }
    if (last !== undefined) this.#last = last;
    this.#last.next = undefined;
    this.size = size;
    this.data = undefined;
    return before - this.spanCount;
  }
}

function setAttributes(
  span: SpanImpl,
  attributes: Attributes | undefined,
): void {
  if (attributes === undefined) return;
  for (const key in attributes) span.setAttribute(key, attributes[key]);
}
