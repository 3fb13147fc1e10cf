/**
 * Browsers send a page's cookies when it opens a socket; `WebSocket` of Deno
 * has none to send.
 *
 * @module
 */

/** Sockets with cookies. Ends with the block that it was made in. */
export interface CookieSockets extends Disposable {
  /** The address to give to `WebSocket` so that it sends a cookie. */
  withCookie(url: string, cookie: string): string;
}

/** Puts a `WebSocket` that knows cookies in the place of the global one. */
export function useCookieSockets(): CookieSockets {
  const Original = globalThis.WebSocket;
  const cookies = new Map<string, string>();
  globalThis.WebSocket = class extends Original {
    constructor(url: string | URL) {
      const cookie = cookies.get(`${url}`);
      cookies.delete(`${url}`);
      // Where the types of browsers are loaded as well, those know no headers.
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
