import { refuseHost } from "./http/host_header.ts";

/** The other end of a connection over the network, as in `Deno.NetAddr`. */
export interface NetAddress {
  /** The protocol below HTTP. */
  readonly transport: "tcp" | "udp";
  /** The address, such as `127.0.0.1` or `::1`. */
  readonly hostname: string;
  /** The port. */
  readonly port: number;
}

/** The other end of a connection through a socket file. */
export interface UnixAddress {
  /** The kind of socket. */
  readonly transport: "unix" | "unixpacket";
  /** The file. */
  readonly path: string;
}

/** The other end of a connection between a virtual machine and its host. */
export interface VsockAddress {
  /** The kind of socket. */
  readonly transport: "vsock";
  /** The number of the machine, its context identifier. */
  readonly cid: number;
  /** The port. */
  readonly port: number;
}

/** The other end of a connection: what Deno calls `Deno.Addr`. */
export type Address = NetAddress | UnixAddress | VsockAddress;

/** How the server received a request; `Deno.serve` hands it to its handler. */
export interface ConnectionInfo {
  /** The other end of the connection. */
  readonly remoteAddr?: Address | undefined;
  /** Settles once the response has been sent, body included. */
  readonly completed?: Promise<void> | undefined;
}

/**
 * What the kit's middlewares ask of a host's context: a place to keep values
 * for the time of one request. Hono's `c` fits, and so does `Context` of
 * `@quartet/kit/app`.
 */
export interface RequestContext {
  /** The value kept under `key`, or `undefined`. */
  // deno-lint-ignore no-explicit-any -- hosts type their own values
  get(key: string): any;
  /** Keeps `value` under `key` until the response is sent. */
  set(key: string, value: unknown): void;
  /** The connection, where the host tells it. */
  readonly info?: ConnectionInfo | undefined;
}

/** What keeps the values of a context: a `Map`, or the context of a host. */
export interface ContextValues {
  /** The value kept under `key`, or `undefined`. */
  get(key: string): unknown;
  /** Keeps `value` under `key`. */
  set(key: string, value: unknown): unknown;
}

/** The parameters of a matched route, decoded. */
export type Params = Readonly<Record<string, string>>;

const NO_PARAMS: Params = Object.freeze({});

/**
 * Everything that handlers and middlewares share about one request.
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
  /** The connection, where the server tells it. */
  readonly info: ConnectionInfo | undefined;
  /** The parameters of the matched route; empty before a route has matched. */
  params: Params = NO_PARAMS;
  #url: URL | undefined;
  #values: ContextValues | undefined;

  /**
   * Makes the context of a request.
   *
   * @param request The request that is being handled.
   * @param info What the server knows about the connection.
   * @param values Where values are kept. Default: in the context itself.
   */
  constructor(request: Request, info?: ConnectionInfo, values?: ContextValues) {
    this.request = request;
    this.info = info;
    this.#values = values;
  }

  /**
   * The request's URL, parsed when first asked for.
   *
   * @throws {Response} If the client sent a `Host` that no URL can hold: a 400.
   */
  get url(): URL {
    const url = this.#url ??= URL.parse(this.request.url) ?? undefined;
    if (url === undefined) throw refuseHost();
    return url;
  }

  /**
   * The same context with another request: for what goes on when this one
   * can't be read any more, as on a socket. The values are shared. Of the
   * connection only the address is kept, since Deno forgets it as well.
   */
  withRequest(request: Request): Context {
    const info = this.info && { remoteAddr: this.info.remoteAddr };
    const context = new Context(request, info, this.#values ??= new Map());
    context.params = this.params;
    return context;
  }

  /** The value kept under `key`, or `undefined`. */
  // deno-lint-ignore no-explicit-any -- values are typed by who set them
  get(key: string): any {
    return this.#values?.get(key);
  }

  /** Keeps `value` under `key` until the response is sent. */
  set(key: string, value: unknown): void {
    (this.#values ??= new Map()).set(key, value);
  }
}
