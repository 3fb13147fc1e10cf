// Signing in with Hillside.

import type { Context, Route } from "@quartet/kit/app";
import { getAuth, getOAuthUrl, handleOAuthCallback } from "@quartet/kit/auth";
import { html, nextPath, seeOther } from "./answer.tsx";
import { CALLBACK_PATH } from "./hillside.ts";
import { SignInPage } from "./sign_in.tsx";
import { explain } from "./sign_in_problem.ts";

/** The redirect to Hillside, and the OAuth callback. */
export const hillsideRoutes: Route[] = [
  {
    path: "/sign-in/hillside",
    loader: ({ context }) => {
      const returnTo = nextPath(context.url);
      return seeOther(
        getOAuthUrl(context, "hillside", callbackUrl(context), { returnTo }),
      );
    },
  },
  {
    path: CALLBACK_PATH,
    async loader({ context }) {
      const { searchParams } = context.url;
      const code = searchParams.get("code");
      const returnTo = () => getAuth(context).returnTo ?? "/";
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
          ? { problem: "Hillside didn't sign you in", status: 400 }
          : explain(error);
        const page = <SignInPage next={returnTo()} problem={problem} />;
        return html(context, page, status);
      }
      return seeOther(returnTo());
    },
  },
];

/** Returns the URL of the callback on the host of the request. */
function callbackUrl({ url }: Context): string {
  return url.origin + CALLBACK_PATH;
}
