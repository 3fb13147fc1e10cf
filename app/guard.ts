import type { Context } from "../core/context.ts";
import { isResponse } from "../core/http/is_response.ts";
import { markPersonal, markRefused } from "../core/personal.ts";
import { kindOf } from "../core/check/show.ts";
import type { AuthRule } from "../core/route.ts";

/**
 * Runs `run` for the requests that a rule lets in.
 *
 * @param place What is guarded, for errors.
 */
export async function guard(
  rule: AuthRule,
  place: string,
  request: Request,
  context: Context,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  // An outer page cache must not answer in its place.
  markPersonal(context, isAnonymous(request));
  const refusal: unknown = await check(rule, request, context);
  // Only a check that says so lets a request in, not one that went wrong.
  if (refusal === undefined) return await run();
  if (isResponse(refusal)) {
    markRefused(request, refusal);
    return refusal;
  }
  throw new TypeError(
    `Cannot guard ${place}: config.auth.check must return a Response or undefined, received ${
      kindOf(refusal)
    }`,
  );
}

/** Runs a guard's check. A thrown response refuses the request too. */
async function check(
  rule: AuthRule,
  request: Request,
  context: Context,
): Promise<unknown> {
  try {
    return await rule.check(request, context);
  } catch (error) {
    if (isResponse(error)) markRefused(request, error);
    throw error;
  }
}

/** Whether a request has no credentials. The core knows only these headers. */
function isAnonymous({ headers }: Request): boolean {
  return !headers.has("cookie") && !headers.has("authorization");
}
