// Whose favourites are whose: each browser gets an id in a cookie.

import type { Context, Middleware } from "@quartet/kit/app";
import { getCookies, setCookie } from "@std/http/cookie";

const COOKIE = "atlas-visitor";
const YEAR = 365 * 24 * 60 * 60;

/** Keeps the visitor's id in the context, under `visitor`. */
export const visitors: Middleware<Context> = async (
  _request,
  context,
  next,
) => {
  const known = getCookies(context.request.headers)[COOKIE];
  const visitor = known ?? crypto.randomUUID();
  const isPage = context.request.headers.get("accept")?.includes("text/html");
  if (known !== undefined || isPage) context.set("visitor", visitor);
  const response = await next();
  if (known === undefined && isPage) {
    setCookie(response.headers, {
      name: COOKIE,
      value: visitor,
      path: "/",
      maxAge: YEAR,
      httpOnly: true,
      sameSite: "Lax",
    });
  }
  return response;
};
