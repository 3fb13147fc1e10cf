import { BodyError, tooLarge } from "../core/http/read_body.ts";

/**
 * A request whose body errors beyond a limit, or that has no body. The original
 * body is read only when this one is read.
 */
export class LimitedRequest extends Request {
  readonly #original: Request;
  readonly #limit: LimitedBody | undefined;

  /**
   * Creates a copy of a request.
   *
   * @param limit The limited body, or `undefined` for none.
   * @param body The stream to read: the limited body's, or a clone's.
   */
  constructor(
    original: Request,
    limit: LimitedBody | undefined,
    body = limit?.stream,
  ) {
    const { url, method, headers, redirect } = original;
    // GET stands in for methods that `Request` refuses, such as TRACE.
    // Streams need `duplex`, except on Deno.
    const content = body === undefined
      ? { method: "GET" }
      : { method, body, duplex: "half" };
    super(url, { headers, redirect, ...content });
    this.#original = original;
    this.#limit = limit;
  }

  /** The error of a body that has exceeded the limit, as far as it was read. */
  get excess(): BodyError | undefined {
    return this.#limit?.excess;
  }

  override get method(): string {
    return this.#original.method;
  }

  /** Read lazily: Deno warns as soon as a request's signal is touched. */
  override get signal(): AbortSignal {
    return this.#original.signal;
  }

  override clone(): LimitedRequest {
    return new LimitedRequest(
      this,
      this.#limit,
      super.clone().body ?? undefined,
    );
  }
}

/** A body whose bytes are counted while they are read. */
export class LimitedBody {
  /** The bytes up to the limit. Beyond it, the stream fails with `BodyError`. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The error, once this limit or an outer app's limit was exceeded. */
  excess: BodyError | undefined;

  constructor(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    limit: number,
  ) {
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
    let size = 0;
    this.stream = new ReadableStream({
      pull: async (controller) => {
        reader ??= body.getReader();
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          size += value.byteLength;
          if (size <= limit) return controller.enqueue(value);
          throw tooLarge(limit);
        } catch (error) {
          if (error instanceof BodyError) this.excess = error;
          reader.cancel().catch(() => {});
          throw error;
        }
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    }, { highWaterMark: 0 });
  }
}
