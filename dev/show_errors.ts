import { prefersHtml } from "../core/http/accept.ts";
import { unhandledErrorOf } from "../core/http/unhandled_error.ts";
import type { Middleware } from "../core/middleware.ts";
import { pathOf } from "../core/http/message.ts";
import { printable } from "../core/redact/printable.ts";
import { redactText } from "../core/redact/redact.ts";
import { runOutside } from "../core/request_scope.ts";
import { isLocalRequest } from "../trace/http/access.ts";
import { getActiveSpan } from "../trace/record/context.ts";
import { describeError } from "../trace/record/untyped.ts";
import type { Tracer } from "../trace/types.ts";
import { loggedErrors } from "./logs/capture_console.ts";

/**
 * Creates a middleware that answers a browser's navigation with a page if the app
 * didn't handle an error. Other clients get the app's JSON. It also records the
 * error that a framework has logged and answered.
 *
 * @param tracer Knows the route of the request.
 */
export function showErrors(tracer: Tracer): Middleware {
  const middleware: Middleware = async (request, { info }, next) => {
    const response = await next();
    const failure = unhandledErrorOf(response);
    const span = getActiveSpan();
    // Frameworks such as Hono log an error and answer it.
    const logged = span && loggedErrors.get(span.root);
    if (logged && response.status >= 500 && !failure) span.error(logged);
    if (
      failure === undefined || !prefersHtml(request.headers.get("accept")) ||
      !isLocalRequest(request, info)
    ) return response;
    const { type, message } = describeError(failure.error);
    const route = span && tracer.getTrace(span.traceId)?.spans.get(span.id)
      ?.attributes["http.route"];
    const path = printable(redactText(pathOf(request.url)));
    const { errorPage } = await runOutside(() => import("./error_page.ts"));
    return errorPage(request, response, {
      request: `${request.method} ${path}`,
      route: typeof route === "string" ? route : undefined,
      name: type,
      message,
      trace: span && `/__app/traces#trace=${span.traceId}&span=${span.id}`,
    });
  };
  return Object.assign(middleware, { outermost: true });
}
