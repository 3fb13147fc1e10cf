import { show } from "../../core/check/show.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import { isDevCommand } from "../../core/runtime/dev_command.ts";
import { isProduction } from "../../core/runtime/environment.ts";
import { type Authorize, isLocalRequest, type TraceAccess } from "./access.ts";

type Ask<T> = (
  request: Request,
  info: ConnectionInfo | undefined,
  access: TraceAccess,
) => Promise<T>;

/** Decides who may read traces and post spans. */
export interface AccessControl {
  /** Whether a request is allowed. Rejects if `authorize` does. */
  readonly allows: Ask<boolean>;
  /** Returns the response to a refused request, or `undefined` if allowed. */
  readonly refuse: Ask<Response | undefined>;
  /** Warns once per process if `authorize` isn't set. */
  readonly warn: () => void;
}

/**
 * Creates the access control of a viewer, an API or a stream.
 *
 * @param authorize The rule. Default: requests from this machine, and nobody in
 * production.
 */
export function createAccessControl(
  authorize: Authorize | undefined,
): AccessControl {
  const allows: Ask<boolean> = async (request, info, access) => {
    // Checked for each request, because the environment may be loaded late.
    if (authorize === undefined && isProduction()) return false;
    const rule = authorize ?? isLocalRequest;
    const answer: unknown = await rule(request, info, access);
    if (typeof answer === "boolean") return answer;
    if (answer === undefined || answer === null) return false;
    throw new TypeError(
      `Cannot check access to traces: authorize must return a boolean, received ${
        show(answer)
      }`,
    );
  };
  return {
    allows,
    refuse: async (request, info, access) =>
      await allows(request, info, access)
        ? undefined
        : errorResponse(403, "FORBIDDEN", reasonOf(authorize, info, access)),
    warn: authorize === undefined ? warnOnce : () => {},
  };
}

function reasonOf(
  authorize: Authorize | undefined,
  info: ConnectionInfo | undefined,
  access: TraceAccess,
): string {
  if (authorize === undefined && isProduction()) {
    return `Cannot ${
      access === "read" ? "show traces" : "take spans"
    }: authorize must be given in production, as in tracePlugin(tracer, { authorize })`;
  }
  if (authorize !== undefined && authorize !== isLocalRequest) {
    return `This request may not ${
      access === "read" ? "read traces" : "post spans"
    }: authorize refused it`;
  }
  return info?.remoteAddr === undefined
    ? "Traces are only shown to this machine, and the request's address is unknown: pass on the info of Deno.serve, or set authorize"
    : "Traces are only shown to this machine and to its own pages; set authorize to let others in";
}

let isWarned = false;

/** The dev command controls access itself, so it needs no warning. */
function warnOnce(): void {
  if (isWarned || isDevCommand()) return;
  isWarned = true;
  console.warn(
    isProduction()
      ? "Traces: the viewer, its API and its WebSocket answer 403, because authorize must be given in production. Pass it, as in tracePlugin(tracer, { authorize }). To record traces without a viewer, use traceMiddleware(tracer)."
      : "Traces: the viewer, its API and its WebSocket are open to all requests from this machine, because authorize isn't given. A reverse proxy on this machine can let everyone in. Pass it, as in tracePlugin(tracer, { authorize }); in production it must be given.",
  );
}
