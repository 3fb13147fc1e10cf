import { kindOf } from "../core/check/rules.ts";
import type { Context } from "../core/context.ts";
import { hasHeader, isResponse } from "../core/http/message.ts";
import { attempt, type MaybePromise, whenDone } from "../core/promises.ts";
import type { Handler } from "../core/middleware.ts";
import { markIdle, markPersonal } from "../core/personal.ts";
import { currentScope } from "../core/request_scope.ts";
import type { AuthRule } from "../core/route.ts";

/**
 * Runs `run` for requests that a rule allows.
 *
 * @param place The guarded place in error messages.
 */
export function guard(
  rule: AuthRule,
  place: string,
  request: Request,
  context: Context,
  run: Handler<Context>,
): MaybePromise<Response> {
  // An outer page cache must not answer in its place. Only outer scopes ask
  // whether the request is anonymous.
  const isInner = currentScope()?.outer !== undefined;
  markPersonal(context, isInner && isAnonymous(request));
  const refusal = attempt<unknown, [AuthRule, Request, Context]>(
    check,
    fail,
    rule,
    request,
    context,
  );
  return whenDone(refusal, decide, place, request, context, run);
}

function check(rule: AuthRule, request: Request, context: Context): unknown {
  return rule.check(request, context);
}

function fail(error: unknown, _rule: AuthRule, request: Request): never {
  if (isResponse(error)) markIdle(request, error);
  throw error;
}

/** If a check fails or returns any other value, access is refused. */
function decide(
  refusal: unknown,
  place: string,
  request: Request,
  context: Context,
  run: Handler<Context>,
): MaybePromise<Response> {
  if (refusal === undefined) return run(request, context);
  if (isResponse(refusal)) {
    markIdle(request, refusal);
    return refusal;
  }
  const received = kindOf(refusal);
  throw new TypeError(
    `Cannot guard ${place}: config.auth.check must return a Response or undefined, received ${received}`,
  );
}

/** Whether a request has no credentials. The core knows only these headers. */
function isAnonymous({ headers }: Request): boolean {
  return !hasHeader(headers, "cookie") && !hasHeader(headers, "authorization");
}
