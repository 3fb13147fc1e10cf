// Error pages, in place of JSON errors of guards and routes.

import type { Context, Middleware } from "@quartet/kit/app";
import { html, seeOther, signInPath } from "./answer.tsx";
import { Message } from "./layout.tsx";

const TITLES = { 403: "You don't have access", 404: "Page not found" };

/** Shows 403 and 404 as pages, and redirects from 401 to the sign-in page. */
export const refusals: Middleware<Context> = async (request, context, next) => {
  const response = await next();
  const wantsPage = request.headers.get("accept")?.includes("text/html");
  const type = response.headers.get("content-type");
  if (!wantsPage || type !== "application/json") return response;
  switch (response.status) {
    case 401:
      // A redirect can't repeat a form post, so don't lead back to it.
      return seeOther(
        request.method === "GET" ? signInPath(context.url) : "/sign-in",
      );
    case 403:
    case 404: {
      const title = TITLES[response.status];
      const { error } = await response.json();
      const page = <Message title={title}>{error.message}.</Message>;
      return html(context, page, response.status);
    }
    default:
      return response;
  }
};
