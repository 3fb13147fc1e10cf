import type { SpanOpener } from "../../core/observed_span.ts";
import type { Attributes, Layer, Span } from "../types.ts";

/**
 * Stands for a span that is not recorded, because its layer is switched off or
 * its trace is full. What is opened below it belongs to the recorded span
 * above it.
 */
export class SkippedSpan implements Span {
  readonly #parent: Span;

  /** Makes a stand-in below `parent`. */
  constructor(parent: Span) {
    this.#parent = parent;
  }

  /** The id of the recorded span above. */
  get id(): string {
    return this.#parent.id;
  }

  /** 32 lower-case hex digits. */
  get traceId(): string {
    return this.#parent.traceId;
  }

  /** The span of the request that the recorded span above is part of. */
  get root(): Span {
    return this.#parent.root;
  }

  /** Opens a span below the recorded span above. */
  child(name: string, layer: Layer, attributes?: Attributes): Span {
    return this.#parent.child(name, layer, attributes);
  }

  /** How long the recorded span above has run, in milliseconds. */
  elapsed(): number {
    return this.#parent.elapsed();
  }

  /** Does nothing. */
  setAttribute(): void {}

  /** Does nothing. */
  event(): void {}

  /** Does nothing. */
  error(): void {}

  /** Does nothing. */
  end(): void {}

  /** Gives what continues the recorded span above. */
  continuation(): SpanOpener {
    return this.#parent.continuation();
  }
}
