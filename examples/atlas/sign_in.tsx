// Signing in and out.

import type { Context, Route } from "@quartet/kit/app";
import { getAuth, publicAction } from "@quartet/kit/auth";
import type { AuthError, AuthPlugin } from "@quartet/kit/auth";
import type { VNode } from "preact";
import { html, nextPath, seeOther, withNext } from "./answer.tsx";
import { Field, Problem } from "./fields.tsx";
import { readForm } from "./form.ts";
import { Page } from "./layout.tsx";
import { explain } from "./sign_in_problem.ts";
import type { AtlasUser } from "./user.ts";

export function signInRoutes(auth: AuthPlugin<AtlasUser>): Route[] {
  return [
    {
      path: "/sign-in",
      // Rejects form posts from other sites.
      config: { ...publicAction() },
      loader({ context }) {
        const next = nextPath(context.url);
        return auth.getUser(context) === null
          ? html(context, <SignInPage next={next} />)
          : seeOther(next);
      },
      async action({ request, context }) {
        const next = nextPath(context.url);
        const { email = "", password } = await readForm(request);
        try {
          await auth.getAuth(context).signIn("password", {
            email: email.trim().toLowerCase(),
            password,
          });
        } catch (error) {
          const { problem, status } = explain(error);
          const page = <SignInPage {...{ next, email, problem }} />;
          return html(context, page, status);
        }
        return seeOther(next);
      },
    },
    {
      path: "/sign-out",
      config: { ...publicAction() },
      async action({ context }) {
        await auth.getAuth(context).signOut();
        return seeOther("/");
      },
    },
  ];
}

/** Shows the sign-in page after a failed sign-in with Hillside. */
export function showOAuthError(error: AuthError, context: Context): Response {
  const { problem, status } = error.code === "INVALID_CREDENTIALS"
    ? { problem: "Hillside didn't sign you in", status: 400 }
    : explain(error);
  const next = getAuth(context).returnTo ?? "/";
  return html(context, <SignInPage {...{ next, problem }} />, status);
}

function SignInPage(
  { next, email, problem }: {
    next: string;
    email?: string;
    problem?: string;
  },
): VNode {
  return (
    <Page title="Sign in – Atlas">
      <h1>Sign in</h1>
      <Problem>{problem}</Problem>
      <form class="fields" method="post" action={withNext("/sign-in", next)}>
        <Field
          label="E-mail address"
          name="email"
          type="email"
          autocomplete="username"
          value={email}
          required
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
        />
        <button type="submit">Sign in</button>
      </form>
      <p>
        <a href={`/sign-in/hillside?returnTo=${encodeURIComponent(next)}`}>
          Sign in with Hillside
        </a>
      </p>
      <p>
        New here? <a href={withNext("/sign-up", next)}>Sign up</a>
      </p>
    </Page>
  );
}
