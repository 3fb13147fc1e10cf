/**
 * WebSockets that send cookies, as in browsers. Deno's `WebSocket` sends none.
 *
 * @module
 */

/** Sockets with cookies. Disposing it restores the global `WebSocket`. */
export interface CookieSockets extends Disposable {
  /** Returns an address that makes `WebSocket` send a cookie. */
  withCookie(url: string, cookie: string): string;
}

/** Replaces the global `WebSocket` by one that sends cookies. */
export function useCookieSockets(): CookieSockets {
  const Original = globalThis.WebSocket;
  const cookies = new Map<string, string>();
  globalThis.WebSocket = class extends Original {
    constructor(url: string | URL) {
      const cookie = cookies.get(`${url}`);
      cookies.delete(`${url}`);
      // With the DOM's types loaded, the constructor has no `headers` option.
      super(url, { headers: cookie === undefined ? {} : { cookie } } as never);
    }
  };
  let count = 0;
  return {
    withCookie(url, cookie) {
      const address = `${url.replace("http", "ws")}?socket=${count++}`;
      cookies.set(address, cookie);
      return address;
    },
    [Symbol.dispose]() {
      globalThis.WebSocket = Original;
    },
  };
}
