/**
 * Atlas behind a real server, and its users.
 *
 * @module
 */

import { createApp, serve } from "@quartet/kit/app";
import { createClient } from "@quartet/kit/rpc/client";
import { tracePlugin } from "@quartet/kit/trace";
import type { Tracer } from "@quartet/kit/trace";
import { assertEquals } from "@std/assert";
import type { Api } from "../../examples/atlas/api.ts";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import type { AtlasOptions } from "../../examples/atlas/atlas.ts";
import { createBrowser } from "../auth/browser.ts";
import type { Browser } from "../auth/browser.ts";
import { click } from "../auth/oauth_setup.ts";

/** A page, or the redirect to one. */
export interface Page {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** A user with a separate browser. */
export interface Visitor {
  readonly browser: Browser;
  /** Calls with the browser's cookies. */
  readonly rpc: ReturnType<typeof createClient<Api>>;
  /** The value of the `Cookie` header. */
  readonly cookie: string;
  open(path: string): Promise<Page>;
  submit(
    path: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Page>;
  /** Signs in with Hillside as this user. */
  signInWithHillside(login: string, next?: string): Promise<Page>;
}

/** A running Atlas. It's closed at the end of its block. */
export interface RunningAtlas extends AsyncDisposable {
  readonly origin: string;
  /** Creates a browser that is signed out. */
  visitor(): Visitor;
  /** Creates a browser that has signed up with {@linkcode PASSWORD}. */
  signUp(name: string): Promise<Visitor>;
}

/** The password of all users. */
export const PASSWORD = "a password nobody has seen";

/** Returns the e-mail address of a user. */
export const emailOf = (name: string) => `${name.toLowerCase()}@example.com`;

/** Starts Atlas, by default with an in-memory database. */
export function serveAtlas(
  { tracer, ...options }: Partial<AtlasOptions> & { tracer?: Tracer } = {},
): RunningAtlas {
  const atlas = createAtlas({ database: ":memory:", ...options });
  const host = createApp(tracer ? { trace: tracePlugin(tracer) } : {});
  host.use((request, context) => atlas.fetch(request, context.info));
  const server = serve({
    fetch: host.fetch,
    async close() {
      await Promise.all([host.close(), atlas.close()]);
    },
  }, { port: 0, signals: false, onListen() {} });
  const origin = `http://127.0.0.1:${server.address.port}`;
  return {
    origin,
    visitor: () => createVisitor(origin),
    async signUp(name) {
      const visitor = createVisitor(origin);
      const { status, text } = await visitor.submit("/sign-up", {
        name,
        email: emailOf(name),
        password: PASSWORD,
      });
      assertEquals(status, 303, text);
      return visitor;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Creates a browser without cookies.
 *
 * @param send Sends its requests. Default: the global `fetch`.
 */
export function createVisitor(
  origin: string,
  send: typeof fetch = fetch,
): Visitor {
  const browser = createBrowser(origin, send);
  const cookie = () =>
    Array.from(browser.cookies, ([name, { value }]) => `${name}=${value}`)
      .join("; ");

  async function ask(path: string, init: Parameters<Browser["ask"]>[1] = {}) {
    const response = await browser.ask(path, {
      ...init,
      headers: { accept: "text/html", ...init.headers as object },
    });
    return {
      status: response.status,
      location: response.headers.get("location"),
      text: await response.text(),
    };
  }

  return {
    browser,
    rpc: createClient<Api>({
      httpEndpoint: `${origin}/api/rpc`,
      fetch: send,
      headers: () => ({ cookie: cookie() }),
    }),
    get cookie() {
      return cookie();
    },
    open: (path) => ask(path),
    submit: (path, fields = {}, headers = {}) =>
      ask(path, {
        body: new URLSearchParams(fields).toString(),
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          ...headers,
        },
      }),
    async signInWithHillside(login, next = "/") {
      const { location } = await ask(
        `/sign-in/hillside?returnTo=${encodeURIComponent(next)}`,
      );
      const { code, state } = await click(location!, login);
      const query = new URLSearchParams({ code, state });
      return await ask(`/sign-in/hillside/callback?${query}`);
    },
  };
}
