import type { CookieSettings } from "./cookie_settings.ts";
import { formatCookie } from "./cookie_settings.ts";
import { cookiesToClear, cookiesToSet, isPieceOf } from "./cookies.ts";

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

  /** Values of `Set-Cookie`, those of the session first. */
  get headers(): string[] {
    return this.#cookies === undefined ? [] : [...this.#cookies.values()];
  }

  /** The cookies that the request has brought. */
  get received(): string | null {
    try {
      return this.#request.headers.get("cookie");
    } catch {
      // Deno lets go of a request that has become a socket. What happens from
      // then on has no response to set cookies anyway.
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

  /** Sets the session's cookie, for so many seconds. */
  setSession(value: string, maxAge: number): void {
    const { received } = this;
    this.#replace(cookiesToSet(this.#settings, value, maxAge, received));
  }

  /** Removes the session's cookie. */
  clearSession(): void {
    this.#replace(cookiesToClear(this.#settings, this.received));
  }

  /** Takes back what was to be set of the session's cookie so far. */
  #replace(headers: readonly string[]): void {
    const before = this.#cookies ?? new Map<string, string>();
    this.#cookies = new Map();
    this.add(headers);
    for (const [name, header] of before) {
      if (this.#cookies.has(name)) continue;
      const isPiece = isPieceOf(name, this.#settings.name);
      this.add([isPiece ? formatCookie(this.#settings, name, "", 0) : header]);
    }
  }
}
