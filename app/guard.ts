import type { Context } from "./context.ts";
import { isResponse } from "./internal/is_response.ts";
import { kindOf } from "./internal/show.ts";
import type { AuthRule } from "./route.ts";

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
  const refusal: unknown = await rule.check(request, context);
  // Only a check that says so lets a request in, not one that went wrong.
  if (refusal === undefined) return await run();
  if (isResponse(refusal)) return refusal;
  throw new TypeError(
    `Cannot guard ${place}: config.auth.check must return a Response or undefined, received ${
      kindOf(refusal)
    }`,
  );
}
