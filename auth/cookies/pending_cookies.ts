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

  /** Values of `Set-Cookie`. */
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
    for (const name of this.#cookies?.keys() ?? []) {
      if (isPieceOf(name, this.#settings.name)) {
        this.add([formatCookie(this.#settings, name, "", 0)]);
      }
    }
    this.add(headers);
  }
}
