import type { ObservedSpan } from "../app/scope.ts";
import type { CallInfo, Procedure, ProcedureKind } from "./procedure.ts";
import type { Schema } from "./schema.ts";

/** Where a call comes from. */
export interface CallSource {
  /** The request, or whatever explains why there is none by throwing. */
  readonly request: Request;
  /** Aborted when the caller goes away; it may also be after the call. */
  readonly signal: AbortSignal;
  /** The id of the last value that a returning subscriber has seen. */
  readonly lastEventId?: string | undefined;
}

/** What stays the same while a call runs. */
export class Call implements CallInfo<unknown> {
  readonly ctx: unknown;
  readonly path: string;
  readonly type: ProcedureKind;
  /** The span of this call, when it is traced. */
  span: ObservedSpan | undefined = undefined;
  /** Whether the procedure is done, so that nobody can leave it any more. */
  settled = false;
  readonly #source: CallSource;
  #signal: AbortSignal | undefined = undefined;

  constructor(
    { path, procedure }: Endpoint,
    ctx: unknown,
    source: CallSource,
  ) {
    this.ctx = ctx;
    this.path = path;
    this.type = procedure.kind;
    this.#source = source;
  }

  get request(): Request {
    return this.#source.request;
  }

  get lastEventId(): string | undefined {
    return this.#source.lastEventId;
  }

  /**
   * A signal of its own, made when first asked for: that of a request costs
   * more to make than the call, and Deno aborts it after success as well.
   */
  get signal(): AbortSignal {
    return this.#signal ??= this.#follow(this.#source.signal);
  }

  /** Whether `error` is how the procedure says that its caller has gone. */
  isAbandonedBy(error: unknown): boolean {
    const signal = this.#signal;
    if (!signal?.aborted) return false;
    return error === signal.reason ||
      (error instanceof Error && error.name === "AbortError");
  }

  #follow(source: AbortSignal): AbortSignal {
    const controller = new AbortController();
    const abort = () => {
      if (!this.settled) controller.abort(source.reason);
    };
    if (source.aborted) abort();
    else source.addEventListener("abort", abort, { once: true });
    return controller.signal;
  }
}

/** A procedure at its place in a router. */
export interface Endpoint {
  /** Its dotted path. */
  readonly path: string;
  /** The procedure. */
  readonly procedure: Procedure<ProcedureKind, Schema | undefined>;
}
