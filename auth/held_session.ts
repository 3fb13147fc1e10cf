import type { RequestContext } from "../core/context.ts";
import { markPersonal } from "../core/personal.ts";
import { currentScope } from "../core/request_scope.ts";
import type { RequestSession, SessionWatch } from "../core/session_end.ts";
import type { AuthCore } from "./core.ts";
import { copySession } from "./sessions/session_copy.ts";
import { sessionKeyOf } from "./sessions/session_watcher.ts";
import type { VerifiedSession } from "./sessions/verify_session.ts";
import type { Session } from "./user.ts";

const NO_ROLES: readonly string[] = [];

/** The session of a request, and whether code has asked for it. */
export class HeldSession implements RequestSession {
  readonly #core: AuthCore;
  /** The context of the request, unless it was passed without one. */
  readonly #context: RequestContext | undefined;
  readonly #scope = currentScope();
  #isAsked = false;
  #verified: VerifiedSession | undefined;
  #copy: Session | undefined;
  /** Guards check these, whatever a handler does to `session.roles`. */
  #roles: readonly string[] = NO_ROLES;

  constructor(core: AuthCore, context: RequestContext | undefined) {
    this.#core = core;
    this.#context = context;
  }

  /** The session itself, without asking for the user. */
  protected get verified(): VerifiedSession | undefined {
    return this.#verified;
  }

  /** The roles of the user, without asking. */
  protected get roles(): readonly string[] {
    return this.#roles;
  }

  get session(): Session | null {
    const verified = this.ask();
    if (verified === undefined) return null;
    // Copied when first asked for: many requests never ask.
    return this.#copy ??= copySession(verified.session);
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  get sessionKey(): string | undefined {
    return this.#verified && sessionKeyOf(this.#verified);
  }

  watchSession(onEnd: () => void): SessionWatch {
    return this.#core.watcher.watch(this.#verified!, this.#roles, onEnd);
  }

  /**
   * Returns the session for code that asks for the user. That marks the response
   * as personal.
   */
  ask(): VerifiedSession | undefined {
    this.#isAsked = true;
    this.markPersonal(this.sessionKey === undefined ? undefined : this);
    return this.#verified;
  }

  /** Marks the response as personal for code that doesn't learn the user. */
  protected markPersonal(session?: RequestSession): void {
    const isAnonymous = this.#verified === undefined;
    markPersonal(this.#context, isAnonymous, this.#scope, session);
  }

  /** Replaces the session. */
  protected become(verified: VerifiedSession | undefined): void {
    this.#verified = verified;
    this.#copy = verified?.custom;
    this.#roles = verified?.custom === undefined
      ? verified?.session.roles ?? NO_ROLES
      : [...verified.custom.roles ?? NO_ROLES];
  }
}
