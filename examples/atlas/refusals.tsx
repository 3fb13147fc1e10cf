// What guards and routes refuse in JSON, people are told on a page.

import type { Context, Middleware } from "@quartet/kit/app";
import { html, seeOther, signInPath } from "./answer.tsx";
import { Message } from "./page.tsx";

/** Makes pages of refusals, and sends strangers to the sign-in page. */
export const refusals: Middleware<Context> = async (request, context, next) => {
  const response = await next();
  const isForPeople = request.headers.get("accept")?.includes("text/html");
  const type = response.headers.get("content-type");
  if (!isForPeople || type !== "application/json") return response;
  switch (response.status) {
    case 401:
      // What a form has sent can't be sent again by a link.
      return seeOther(
        request.method === "GET" ? signInPath(context.url) : "/sign-in",
      );
    case 403:
      return html(context, <Message title="This is not for you" />, 403);
    case 404:
      return html(context, <Message title="There is nothing here" />, 404);
    default:
      return response;
  }
};
