// Signing up.

import type { DatabaseSync } from "node:sqlite";
import type { Route } from "@quartet/kit/app";
import { hashPassword, publicAction } from "@quartet/kit/auth";
import type { AuthPlugin } from "@quartet/kit/auth";
import { recordFormValidation, withSpan } from "@quartet/kit/trace";
import type { VNode } from "preact";
import { z } from "zod";
import { html, nextPath, seeOther, withNext } from "./answer.tsx";
import { Field, Problem } from "./fields.tsx";
import { readForm } from "./form.ts";
import { Page } from "./layout.tsx";
import { explain } from "./sign_in_problem.ts";
import { addUser, hasAdmin } from "./user.ts";
import type { AtlasUser } from "./user.ts";

const signUp = z.object({
  name: z.string().trim().min(1, "Enter your name")
    .max(80, "Enter at most 80 characters"),
  email: z.string().trim().toLowerCase()
    .pipe(z.email("Enter a valid e-mail address")),
  password: z.string().min(8, "Enter at least 8 characters")
    // The limit of hashPassword().
    .refine(
      (text) => byteLength(text.normalize("NFKC")) <= 1024,
      "The password is too long",
    ),
});

export function signUpRoutes(
  database: DatabaseSync,
  auth: AuthPlugin<AtlasUser>,
): Route[] {
  return [{
    path: "/sign-up",
    config: { ...publicAction() },
    loader({ context }) {
      const next = nextPath(context.url);
      const isFirst = !hasAdmin(database);
      return html(context, <SignUpPage {...{ next, isFirst }} />);
    },
    async action({ request, context }) {
      const next = nextPath(context.url);
      const fields = await readForm(request);
      const refuse = (problems: Problems, status = 422) => {
        recordFormValidation({ errors: problems });
        const isFirst = !hasAdmin(database);
        const page = <SignUpPage {...{ next, isFirst, fields, problems }} />;
        return html(context, page, status);
      };

      const { data, error } = signUp.safeParse({
        name: "",
        email: "",
        password: "",
        ...fields,
      });
      if (error !== undefined) return refuse(problemsOf(error));
      const { name, email, password } = data;
      try {
        const passwordHash = await withSpan(
          "hash password",
          "auth",
          () => hashPassword(password),
        );
        const user = addUser(database, { name, email, passwordHash });
        if (user === undefined) {
          return refuse({
            email: "An account with this address already exists",
          });
        }
        await auth.getAuth(context).signInAs(user, { provider: "password" });
      } catch (failure) {
        const { problem, status } = explain(failure);
        return refuse({ form: problem }, status);
      }
      return seeOther(next);
    },
  }];
}

/** Error messages by the name of the field, or `form` for the whole form. */
type Problems = Readonly<Record<string, string>>;

function problemsOf(error: z.ZodError): Problems {
  return Object.fromEntries(
    error.issues.map(({ path, message }) => [path[0], message]).toReversed(),
  );
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function SignUpPage(
  { next, isFirst, fields = {}, problems = {} }: {
    next: string;
    isFirst: boolean;
    fields?: Partial<Record<string, string>>;
    problems?: Problems;
  },
): VNode {
  return (
    <Page title="Sign up – Atlas">
      <h1>Sign up</h1>
      {isFirst && (
        <p>
          You are the first user, so you will be the admin. The admin can edit
          countries.
        </p>
      )}
      <Problem>{problems["form"]}</Problem>
      <form class="fields" method="post" action={withNext("/sign-up", next)}>
        <Field
          label="Name"
          name="name"
          autocomplete="name"
          value={fields["name"]}
          problem={problems["name"]}
          required
        />
        <Field
          label="E-mail address"
          name="email"
          type="email"
          autocomplete="username"
          value={fields["email"]}
          problem={problems["email"]}
          required
        />
        <Field
          label="Password, at least 8 characters"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={8}
          problem={problems["password"]}
          required
        />
        <button type="submit">Sign up</button>
      </form>
      <p>
        Have an account? <a href={withNext("/sign-in", next)}>Sign in</a>
      </p>
    </Page>
  );
}
