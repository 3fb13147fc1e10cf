import { type CookieSettings, formatCookie } from "./cookie_settings.ts";
import { cookiesOf, isPieceOf } from "./cookies.ts";

/** Minimum size of a cookie that browsers take, with attributes, in bytes. */
const MAX_COOKIE = 4096;

/** The cookies that a response has to set, by name. */
export class PendingCookies {
  readonly #settings: CookieSettings;
  readonly #request: Request;
  #cookies: Map<string, string> | undefined;

  constructor(settings: CookieSettings, request: Request) {
    this.#settings = settings;
    this.#request = request;
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#cookies === undefined;
  }

  /** Values of `Set-Cookie`, the session's first. */
  get headers(): string[] {
    return this.#cookies === undefined ? [] : [...this.#cookies.values()];
  }

  /** The `Cookie` header of the request. */
  get received(): string | null {
    return this.#header("cookie");
  }

  #header(name: string): string | null {
    try {
      return this.#request.headers.get(name);
    } catch {
      // Deno drops a request that has become a socket. Its response is sent.
      return null;
    }
  }

  /** Adds values of `Set-Cookie`. */
  add(headers: readonly string[]): void {
    const cookies = this.#cookies ??= new Map();
    for (const header of headers) {
      cookies.set(header.slice(0, header.indexOf("=")), header);
    }
  }

  /**
   * Sets the session's cookie, in as many pieces as it takes.
   *
   * @param maxAge In seconds.
   */
  setSession(value: string, maxAge: number): void {
    const settings = this.#settings;
    const { name } = settings;
    const room = MAX_COOKIE -
      formatCookie(settings, `${name}.0`, "", maxAge).length;
    const isWhole = value.length <= room;
    const headers: string[] = [];
    for (let at = 0; at < value.length; at += room) {
      const piece = isWhole ? name : `${name}.${headers.length}`;
      const part = value.slice(at, at + room);
      headers.push(formatCookie(settings, piece, part, maxAge));
    }
    this.#replace(headers);
  }

  /** Removes the session's cookie. */
  clearSession(): void {
    this.#replace([formatCookie(this.#settings, this.#settings.name, "", 0)]);
  }

  /**
   * Removes the cookie of an invalid session. While a script's request runs, the
   * user may sign in, so the browser may have a new cookie before this response.
   */
  dropSession(): void {
    // Other clients send no destination, although Node's `fetch` sends a mode.
    const isByScript = this.#header("sec-fetch-dest") !== null &&
      this.#header("sec-fetch-mode") !== "navigate";
    if (!isByScript) this.clearSession();
  }

  /** Replaces the session's cookie, and removes all other pieces of it. */
  #replace(headers: readonly string[]): void {
    const settings = this.#settings;
    const before = this.#cookies ?? new Map<string, string>();
    const cookies = this.#cookies = new Map();
    this.add(headers);
    const old = [...before.keys()];
    for (const [name] of cookiesOf(this.received ?? "", settings.name)) {
      old.push(name);
    }
    for (const name of old) {
      if (cookies.has(name)) continue;
      const header = isPieceOf(name, settings.name)
        ? formatCookie(settings, name, "", 0)
        : before.get(name);
      cookies.set(name, header);
    }
  }
}
