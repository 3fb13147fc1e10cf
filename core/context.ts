import { refuseHost } from "./http/origin.ts";

/** The other end of a connection over the network, as in `Deno.NetAddr`. */
export interface NetAddress {
  /** The protocol below HTTP. */
  readonly transport: "tcp" | "udp";
  /** The address, such as `127.0.0.1` or `::1`. */
  readonly hostname: string;
  /** The port. */
  readonly port: number;
}

/** The other end of a connection, as in `Deno.Addr`. */
export type Address =
  | NetAddress
  | { readonly transport: "unix" | "unixpacket"; readonly path: string }
  | {
    readonly transport: "vsock";
    /** The number of the virtual machine. */
    readonly cid: number;
    readonly port: number;
  };

/** The connection of a request, from the second argument of `Deno.serve`. */
export interface ConnectionInfo {
  /** The other end of the connection. */
  readonly remoteAddr?: Address | undefined;
  /** Settles once the response has been sent, body included. */
  readonly completed?: Promise<void> | undefined;
}

/**
 * The part of a host's context that middlewares of the kit need: the values of
 * one request. Hono's `c` has it, as does `Context`.
 */
export interface RequestContext {
  /** Returns the value of `key`, or `undefined`. */
  // deno-lint-ignore no-explicit-any -- hosts give values their types, and unknown would reject them
  get(key: string): any;
  /** Sets the value of `key` until the response is sent. */
  set(key: string, value: unknown): void;
  /** The connection, if the host knows it. */
  readonly info?: ConnectionInfo | undefined;
}

/** The parameters of a matched route, decoded. */
export type Params = Readonly<Record<string, string>>;

const NO_PARAMS: Params = Object.freeze({});

type Store = Pick<RequestContext, "get" | "set">;

/**
 * The values of a request. Most requests have one. A `Map` would take 180 bytes
 * for it.
 */
class Values implements Store {
  #key: string | undefined;
  #value: unknown;
  #others: Map<string, unknown> | undefined;

  get(key: string): unknown {
    return key === this.#key ? this.#value : this.#others?.get(key);
  }

  set(key: string, value: unknown): void {
    this.#key ??= key;
    if (key === this.#key) this.#value = value;
    else (this.#others ??= new Map()).set(key, value);
  }
}

/**
 * A request, with the values that its handler and middlewares share.
 *
 * @example
 * ```ts
 * import { Context } from "@quartet/kit/app";
 *
 * const context = new Context(new Request("http://localhost/a?b=1"));
 * context.set("user", "ada");
 * console.assert(context.get("user") === "ada");
 * console.assert(context.url.searchParams.get("b") === "1");
 * ```
 */
export class Context implements RequestContext {
  /** The request, as received. */
  readonly request: Request;
  /** The connection, if the server knows it. */
  readonly info: ConnectionInfo | undefined;
  /** The parameters of the matched route; empty before a route has matched. */
  params: Params = NO_PARAMS;
  #url: URL | undefined;
  #values: Store | undefined;

  /**
   * Creates the context of a request.
   *
   * @param request The request.
   * @param info The connection.
   * @param values The store of values. Default: the context itself.
   */
  constructor(
    request: Request,
    info?: ConnectionInfo,
    values?: Pick<RequestContext, "get" | "set">,
  ) {
    this.request = request;
    this.info = info;
    this.#values = values;
  }

  /**
   * The request's URL. It is parsed when it is first read.
   *
   * @throws {Response} If the client's `Host` makes the URL invalid: a 400.
   */
  get url(): URL {
    const url = this.#url ??= URL.parse(this.request.url) ?? undefined;
    if (url === undefined) throw refuseHost();
    return url;
  }

  /**
   * Returns this context with another request, for work that outlives the original
   * request, as on a socket. Both share their values. Only the address of the
   * connection is kept.
   */
  withRequest(request: Request): Context {
    const info = this.info && { remoteAddr: this.info.remoteAddr };
    const context = new Context(request, info, this.#values ??= new Values());
    context.params = this.params;
    return context;
  }

  /** Returns the value of `key`, or `undefined`. */
  // deno-lint-ignore no-explicit-any -- values have the types of their setters
  get(key: string): any {
    return this.#values?.get(key);
  }

  /** Sets the value of `key` until the response is sent. */
  set(key: string, value: unknown): void {
    (this.#values ??= new Values()).set(key, value);
  }
}
