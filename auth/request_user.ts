/**
 * The user of one request.
 *
 * @module
 */

import { checkValue } from "../core/check/options.ts";
import { rule } from "../core/check/rules.ts";
import type { RequestContext } from "../core/context.ts";
import { markPersonal } from "../core/personal.ts";
import { currentScope } from "../core/request_scope.ts";
import type { RequestSession, SessionWatch } from "../core/request_session.ts";
import type { AuthCore } from "./core.ts";
import { copySession } from "./sessions/session_claims.ts";
import { userFromSession } from "./sessions/session_user.ts";
import { sessionKeyOf } from "./sessions/session_watcher.ts";
import {
  type AuthResult,
  isVerified,
  Unverified,
  type VerifiedSession,
} from "./sessions/verify_session.ts";
import type { Session, User } from "./user.ts";

const NO_ROLES: readonly string[] = [];
const A_ROLE_LIST = rule("an array of roles", Array.isArray);

/** The user of a request. Reading it makes the response personal. */
export class RequestUser implements RequestSession {
  readonly #core: AuthCore;
  /** The context of the request, unless it was passed without one. */
  readonly #context: RequestContext | undefined;
  readonly #scope = currentScope();
  readonly #unverified: Unverified | undefined;
  /** The value that the context had before: the auth of another plugin, if any. */
  readonly #outer: unknown;
  #isAsked = false;
  #verified: VerifiedSession | undefined;
  #session: Session | undefined;
  /** Guards check these, so handlers can't change them by `session.roles`. */
  #roles: readonly string[] = NO_ROLES;

  constructor(
    core: AuthCore,
    result: AuthResult,
    context: RequestContext | undefined,
  ) {
    this.#core = core;
    this.#context = context;
    this.#outer = context?.get("auth");
    if (result instanceof Unverified) this.#unverified = result;
    else if (isVerified(result)) this.become(result);
  }

  /** Returns the auth of a plugin: the given one, or one around it. */
  static find(auth: unknown, core: AuthCore | undefined): unknown {
    const isFound = core === undefined || !(auth instanceof RequestUser) ||
      auth.#core === core;
    return isFound ? auth : RequestUser.find(auth.#outer, core);
  }

  get session(): Session | null {
    const verified = this.ask();
    if (verified === undefined) return null;
    // Copied when first asked for: many requests never ask.
    return this.#session ??= copySession(verified.session);
  }

  isAuthenticated(): boolean {
    return this.ask() !== undefined;
  }

  hasRole(role: string): boolean {
    return this.hasAnyRole([role]);
  }

  hasAnyRole(roles: readonly string[]): boolean {
    checkValue(roles, "roles", A_ROLE_LIST, "check roles");
    this.ask();
    return roles.some((role) => this.#roles.includes(role));
  }

  hasAllRoles(roles: readonly string[]): boolean {
    checkValue(roles, "roles", A_ROLE_LIST, "check roles");
    return this.isAuthenticated() &&
      roles.every((role) => this.#roles.includes(role));
  }

  getUser(): User | null {
    const shared = this.ask()?.session;
    if (shared === undefined) return null;
    // Only claims can share objects with the user.
    return userFromSession(
      shared.claims === undefined ? this.#session ?? shared : this.session!,
    );
  }

  /**
   * Checks that it is known whether the request is anonymous.
   *
   * @throws {UnavailableError} If its session couldn't be looked up.
   */
  demandVerified(): void {
    if (this.#unverified !== undefined) throw this.#unverified.error;
  }

  /** Whether browsers send the credential of the request by themselves. */
  protected get isSentByBrowsers(): boolean {
    const { credentialSource } = this.#verified ?? this.#unverified ?? {};
    return credentialSource !== "bearer" &&
      this.#verified?.isSentByBrowsers !== false;
  }

  /** The session, without marking the response as personal. */
  protected get verified(): VerifiedSession | undefined {
    return this.#verified;
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  get sessionKey(): string | undefined {
    const id = this.#lastingId;
    // Each watch needs the roles that it began with.
    return id === undefined ? undefined : JSON.stringify([id, ...this.#roles]);
  }

  get #lastingId(): string | undefined {
    return this.#verified && sessionKeyOf(this.#verified);
  }

  watchSession(onEnd: () => void): SessionWatch {
    return this.#core.watcher.watch(this.#verified!, this.#roles, onEnd);
  }

  /**
   * Returns the session for code that asks for the user, and marks the response
   * as personal.
   */
  ask(): VerifiedSession | undefined {
    this.#isAsked = true;
    this.markPersonal(this.#lastingId === undefined ? undefined : this);
    return this.#verified;
  }

  /** Marks the response as personal for code that doesn't learn the user. */
  protected markPersonal(session?: RequestSession): void {
    // A request whose session wasn't looked up isn't anonymous.
    const isAnonymous = (this.#verified ?? this.#unverified) === undefined;
    markPersonal(this.#context, isAnonymous, this.#scope, session);
  }

  /** Replaces the session. */
  protected become(verified: VerifiedSession | undefined): void {
    this.#verified = verified;
    this.#session = verified?.custom;
    this.#roles = verified?.custom === undefined
      ? verified?.session.roles ?? NO_ROLES
      : [...verified.custom.roles ?? NO_ROLES];
  }
}
