import { kindOf } from "../core/check/show.ts";
import type { Context } from "../core/context.ts";
import { isResponse } from "../core/http/is_response.ts";
import { attempt, type MaybePromise, whenDone } from "../core/maybe_async.ts";
import { markPersonal, markRefused } from "../core/personal.ts";
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
  run: () => MaybePromise<Response>,
): MaybePromise<Response> {
  // An outer page cache must not answer in its place.
  markPersonal(context, isAnonymous(request));
  const refusal = attempt<unknown>(
    () => rule.check(request, context),
    (error) => {
      if (isResponse(error)) markRefused(request, error);
      throw error;
    },
  );
  return whenDone(refusal, (refusal) => {
    // If a check fails or returns any other value, access is refused.
    if (refusal === undefined) return run();
    if (isResponse(refusal)) {
      markRefused(request, refusal);
      return refusal;
    }
    throw new TypeError(
      `Cannot guard ${place}: config.auth.check must return a Response or undefined, received ${
        kindOf(refusal)
      }`,
    );
  });
}

/** Whether a request has no credentials. The core knows only these headers. */
function isAnonymous({ headers }: Request): boolean {
  return !headers.has("cookie") && !headers.has("authorization");
}
