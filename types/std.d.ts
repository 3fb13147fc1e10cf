/**
 * Types of the `@std` functions this project uses.
 *
 * During development `@std/*` comes from a mirror on npm that ships the
 * original JavaScript without declarations. The official packages, which a
 * published version imports, have the same signatures.
 */

declare module "@std/http/cookie" {
  export interface Cookie {
    name: string;
    value: string;
    expires?: Date | number;
    maxAge?: number;
    domain?: string;
    path?: string;
    secure?: boolean;
    httpOnly?: boolean;
    sameSite?: "Strict" | "Lax" | "None";
    partitioned?: boolean;
  }

  export function getCookies(headers: Headers): Record<string, string>;
  export function setCookie(headers: Headers, cookie: Cookie): void;
}

declare module "@std/crypto/timing-safe-equal" {
  export function timingSafeEqual(
    a: ArrayBufferView | ArrayBufferLike | DataView,
    b: ArrayBufferView | ArrayBufferLike | DataView,
  ): boolean;
}

declare module "@std/assert" {
  // deno-lint-ignore no-explicit-any -- mirrors the official signature
  type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertFalse(
    expr: unknown,
    msg?: string,
  ): asserts expr is false;
  export function assertExists<T>(
    actual: T,
    msg?: string,
  ): asserts actual is NonNullable<T>;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertStrictEquals<T>(
    actual: unknown,
    expected: T,
    msg?: string,
  ): asserts actual is T;
  export function assertMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertNotMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertStringIncludes(
    actual: string,
    expected: string,
    msg?: string,
  ): void;
  export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
  export function assertGreaterOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertLess<T>(actual: T, expected: T, msg?: string): void;
  export function assertLessOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    ErrorClass?: ErrorClass<E>,
    msgIncludes?: string,
    msg?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    ErrorClass?: ErrorClass<E>,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
}
