// Signing in with an account at Hillside.

import type { Context, Route } from "@quartet/kit/app";
import { getOAuthUrl, handleOAuthCallback } from "@quartet/kit/auth";
import { getCookies, setCookie } from "@std/http/cookie";
import { html, nextPath, seeOther } from "./answer.tsx";
import { CALLBACK_PATH } from "./hillside.ts";
import { SignInPage } from "./sign_in.tsx";
import { explain } from "./sign_in_problem.ts";

/** Remembers, while one is away, where one goes on to afterwards. */
const COOKIE = {
  name: "atlas-next",
  path: "/sign-in/hillside",
  httpOnly: true,
  sameSite: "Lax",
} as const;

/** The routes that lead to Hillside and back. */
export const hillsideRoutes: Route[] = [
  {
    path: "/sign-in/hillside",
    loader({ context }) {
      const next = nextPath(context.url);
      const there = getOAuthUrl(context, "hillside", callbackUrl(context));
      const response = seeOther(there);
      setCookie(response.headers, {
        ...COOKIE,
        value: new URLSearchParams({ next }).toString(),
        maxAge: 600,
      });
      return response;
    },
  },
  {
    path: CALLBACK_PATH,
    async loader({ request, context }) {
      const cookie = getCookies(request.headers)[COOKIE.name] ?? "";
      const next = nextPath(new URL(`?${cookie}`, context.url));
      const { searchParams } = context.url;
      const code = searchParams.get("code");
      try {
        await handleOAuthCallback(context, "hillside", {
          code,
          state: searchParams.get("state"),
          iss: searchParams.get("iss"),
          error: searchParams.get("error"),
          redirectUri: callbackUrl(context),
        });
      } catch (error) {
        const { problem, status } = code === null
          ? { problem: "Hillside did not sign you in", status: 400 }
          : explain(error);
        return html(context, <SignInPage {...{ next, problem }} />, status);
      }
      const response = seeOther(next);
      setCookie(response.headers, { ...COOKIE, value: "", maxAge: 0 });
      return response;
    },
  },
];

/** Hillside sends nobody to a host that it does not know. */
function callbackUrl({ url }: Context): string {
  return url.origin + CALLBACK_PATH;
}
