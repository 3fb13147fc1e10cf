import type { ObservedSpan } from "../../core/observed_span.ts";
import { isA } from "../../core/check/rules.ts";
import type {
  CallInfo,
  Procedure,
  ProcedureKind,
} from "../procedure/procedure.ts";
import type { Schema } from "../procedure/schema.ts";
import { SETTLED } from "../procedure/tracked.ts";

/** A procedure at its place in a router. */
export interface Endpoint {
  /** Its dotted path. */
  readonly path: string;
  /** The procedure. */
  readonly procedure: Procedure<ProcedureKind, Schema | undefined>;
}

/** The source of a call. */
export interface CallSource {
  /** The request. Reading it throws if there is none. */
  readonly request: Request;
  /** Aborted when the caller disconnects, possibly after the call. */
  readonly signal: AbortSignal;
  /** Headers to add to the response. */
  readonly responseHeaders: Headers;
  /** The id of the last value that a returning subscriber has received. */
  readonly lastEventId?: string | undefined;
}

/** One call of a procedure. */
export class Call implements CallInfo<unknown> {
  readonly ctx: unknown;
  readonly path: string;
  readonly type: ProcedureKind;
  /** The span of this call, when it is traced. */
  span: ObservedSpan | undefined = undefined;
  readonly #procedure: Endpoint["procedure"];
  /** Whether the procedure is done, so that it can't be abandoned. */
  #settled = false;
  readonly #source: CallSource;
  #controller: AbortController | undefined = undefined;
  #unfollow: (() => void) | undefined = undefined;

  constructor({ path, procedure }: Endpoint, ctx: unknown, source: CallSource) {
    this.ctx = ctx;
    this.path = path;
    this.type = procedure.kind;
    this.#procedure = procedure;
    this.#source = source;
  }

  /** The procedure. A getter, so that logs of a call don't show it. */
  get procedure(): Endpoint["procedure"] {
    return this.#procedure;
  }

  get request(): Request {
    return this.#source.request;
  }

  get responseHeaders(): Headers {
    return this.#source.responseHeaders;
  }

  get lastEventId(): string | undefined {
    return this.#source.lastEventId;
  }

  /**
   * The call's own signal, created when first read. The request's signal costs
   * more than the call, and Deno aborts it after success as well.
   */
  get signal(): AbortSignal {
    return (this.#controller ??= this.#follow(this.#source.signal)).signal;
  }

  /** Marks the procedure as done. */
  settle(): void {
    this.#settled = true;
    this.#unfollow?.();
    this.#controller?.signal.dispatchEvent(new Event(SETTLED));
  }

  /** Aborts the procedure's signal, unless it is done. */
  abandon(reason: unknown): void {
    if (this.#settled) return;
    (this.#controller ??= new AbortController()).abort(reason);
    this.settle();
  }

  /** Whether `error` is a consequence of the caller's disconnect. */
  isAbandonedBy(error: unknown): boolean {
    const signal = this.#controller?.signal;
    if (!signal?.aborted) return false;
    return error === signal.reason ||
      (isA(error, Error) && error.name === "AbortError");
  }

  #follow(source: AbortSignal): AbortController {
    const controller = new AbortController();
    if (this.#settled) return controller;
    const abort = () => controller.abort(source.reason);
    if (source.aborted) abort();
    else {
      source.addEventListener("abort", abort, { once: true });
      // The source may outlive many calls.
      this.#unfollow = () => source.removeEventListener("abort", abort);
    }
    return controller;
  }
}

/** The arguments of a handler, without the fields that middlewares add. */
export class HandlerArguments implements CallInfo<unknown> {
  input: unknown = undefined;
  readonly ctx: unknown;
  readonly path: string;
  readonly type: ProcedureKind;
  readonly lastEventId: string | undefined;
  readonly #call: Call;

  constructor(call: Call) {
    this.ctx = call.ctx;
    this.path = call.path;
    this.type = call.type;
    this.lastEventId = call.lastEventId;
    this.#call = call;
  }

  get request(): Request {
    return this.#call.request;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get responseHeaders(): Headers {
    return this.#call.responseHeaders;
  }
}
