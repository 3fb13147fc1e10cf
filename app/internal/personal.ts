/**
 * Whether the answer to a request depends on who has asked. Who knows says so
 * in the request's context, and who keeps answers for others looks there.
 *
 * @module
 */

import type { RequestContext } from "../context.ts";

const KEY = "quartet:personal";

/** Notes that the answer is for whoever has asked, and for nobody else. */
export function markPersonal(context: RequestContext): void {
  context.set(KEY, true);
}

/** Whether the answer is for whoever has asked, and for nobody else. */
export function isPersonal(context: RequestContext): boolean {
  return context.get(KEY) === true;
}
