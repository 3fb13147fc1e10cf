import type { Layer, ObservedSpan } from "@quartet/kit/app";
import type { SpanOpener } from "../../core/observed_span.ts";

/** A span that records all calls, in place of a tracer's. */
export class RecordedSpan implements ObservedSpan {
  readonly traceId = "0af7651916cd43dd8448eb211c80319c";
  readonly children: RecordedSpan[] = [];
  readonly errors: unknown[] = [];
  ended = 0;

  constructor(
    readonly name: string,
    readonly layer: Layer = "custom",
    readonly parent?: RecordedSpan,
  ) {}

  get root(): RecordedSpan {
    return this.parent?.root ?? this;
  }

  child(name: string, layer: Layer): RecordedSpan {
    const child = new RecordedSpan(name, layer, this);
    this.children.push(child);
    return child;
  }

  setAttribute(): void {}

  event(): void {}

  error(error: unknown): void {
    this.errors.push(error);
  }

  end(): void {
    this.ended++;
  }

  continuation(): SpanOpener {
    return (name, layer) => this.child(name, layer);
  }
}
