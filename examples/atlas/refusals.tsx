// What guards and routes refuse in JSON, people are told on a page.

import type { Context, Middleware } from "@quartet/kit/app";
import { html, seeOther, signInPath } from "./answer.tsx";
import { Message } from "./layout.tsx";

const TITLES = { 403: "This is not for you", 404: "There is nothing here" };

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
