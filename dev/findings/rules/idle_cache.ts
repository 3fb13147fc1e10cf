import type { Evidence, Rule } from "../rule.ts";
import { messageText } from "../texts.ts";

/** Finds cached functions that were asked often and never had a value. */
export const idleCache: Rule = (unit, { idleCachesOf }) =>
  idleCachesOf(unit).map(({ name, lookups, spans }): Evidence => ({
    rule: "idle-cache",
    shape: name,
    message: messageText(`no hit in ${lookups}`),
    route: unit.route,
    spans,
  }));
