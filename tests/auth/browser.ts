/**
 * Helpers for tests of auth: an app behind a real server, and a client that
 * keeps cookies as browsers do.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import type { Plugin, Route } from "@quartet/kit/app";

/** A cookie as its server set it. */
export interface JarCookie {
  readonly value: string;
  /** The attributes by lower-case name; `true` for those without a value. */
  readonly attributes: Readonly<Record<string, string | true>>;
}

/** A client that keeps cookies and doesn't follow redirects. */
export interface Browser {
  /** The cookies by name. Tests may change them. */
  readonly cookies: Map<string, JarCookie>;
  /** The `Set-Cookie` headers of the last response. */
  readonly received: readonly string[];
  /** Sends a request. A body that is an object is sent as JSON. */
  ask(
    path: string,
    init?: Omit<RequestInit, "body"> & { body?: unknown },
  ): Promise<Response>;
  /** Sends a request, and returns the response's body parsed as JSON. */
  json(
    path: string,
    init?: Omit<RequestInit, "body"> & { body?: unknown },
    // deno-lint-ignore no-explicit-any -- tests look into all sorts of answers
  ): Promise<any>;
}

/** A listening app. It's closed at the end of its block. */
export interface TestServer extends AsyncDisposable {
  readonly origin: string;
  /** Errors that were answered with a 500. */
  readonly errors: readonly unknown[];
  /** Creates a client with its own cookies. */
  browser(): Browser;
}

/** Starts an app with a plugin on a free port. */
export async function startServer(
  plugin: Plugin,
  routes: readonly Route[],
): Promise<TestServer> {
  const errors: unknown[] = [];
  const app = createApp({
    plugins: [plugin],
    routes,
    onError: (error) => void errors.push(error),
  });
  const server = await app.serve({
    port: 0,
    signals: false,
    onListen: () => {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;
  return {
    origin,
    errors,
    browser: () => createBrowser(origin),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Creates a client for a listening server.
 *
 * @param send Sends its requests. Default: the global `fetch`.
 */
export function createBrowser(
  origin: string,
  send: typeof fetch = fetch,
): Browser {
  const cookies = new Map<string, JarCookie>();
  let received: readonly string[] = [];

  async function ask(
    path: string,
    init: Omit<RequestInit, "body"> & { body?: unknown } = {},
  ): Promise<Response> {
    const { body, ...rest } = init;
    const headers = new Headers(init.headers);
    if (cookies.size > 0 && !headers.has("cookie")) {
      headers.set(
        "cookie",
        Array.from(cookies, ([name, { value }]) => `${name}=${value}`)
          .join("; "),
      );
    }
    const response = await send(new URL(path, origin), {
      redirect: "manual",
      ...rest,
      ...(body === undefined ? {} : {
        method: init.method ?? "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
      headers,
    });
    received = response.headers.getSetCookie();
    for (const line of received) {
      const [name, cookie] = parseCookie(line);
      if (cookie.attributes["max-age"] === "0") cookies.delete(name);
      else cookies.set(name, cookie);
    }
    return response;
  }

  return {
    cookies,
    get received() {
      return received;
    },
    ask,
    async json(path, init) {
      return await (await ask(path, init)).json();
    },
  };
}

export function parseCookie(line: string): readonly [string, JarCookie] {
  const [pair, ...rest] = line.split("; ");
  const at = pair!.indexOf("=");
  const attributes: Record<string, string | true> = {};
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals === -1) attributes[part.toLowerCase()] = true;
    else {
      attributes[part.slice(0, equals).toLowerCase()] = part.slice(equals + 1);
    }
  }
  return [pair!.slice(0, at), { value: pair!.slice(at + 1), attributes }];
}
