import type { Grant } from "./grants.ts";
import type { Realm } from "./realm.ts";

const ERRORS = {
  invalid_request: "bad_verification_code",
  invalid_client: "incorrect_client_credentials",
  invalid_grant: "bad_verification_code",
  unsupported_grant_type: "unsupported_grant_type",
} as const;

/** GitHub, with the switch that a test needs. */
export interface GitHub extends Realm {
  /**
   * Makes the client a GitHub App, whose tokens have no scopes, and says
   * whether it may read e-mail addresses.
   */
  app: { readonly mayReadEmails: boolean } | undefined;
}

/**
 * GitHub Enterprise Server: the endpoints of sign-in, and those of its API that
 * tell of the user. GitHub and ghe.com differ from it in addresses only.
 */
export function createGitHub(): GitHub {
  const github: GitHub = {
    app: undefined,
    title: "GitHub",
    authorizePath: "/login/oauth/authorize",
    tokenPath: "/login/oauth/access_token",
    answerToken({ accessToken, grant }, request) {
      const answer = {
        access_token: accessToken,
        scope: github.app === undefined ? grant.scope.join(",") : "",
        token_type: "bearer",
      };
      // A form, unless JSON is asked for.
      return request.headers.get("accept")?.includes("application/json")
        ? Response.json(answer)
        : new Response(new URLSearchParams(answer));
    },
    // The status is 200 all the same.
    answerError: (code) =>
      Response.json({
        error: ERRORS[code],
        error_description: "The code passed is incorrect or expired.",
      }),
    answer(path, grant, request) {
      if (!path.startsWith("/api/v3/")) return undefined;
      if (!request.headers.has("user-agent")) {
        return new Response("Request forbidden by administrative rules.", {
          status: 403,
        });
      }
      if (grant === undefined) {
        return Response.json({ message: "Bad credentials", status: "401" }, {
          status: 401,
        });
      }
      switch (path) {
        case "/api/v3/user":
          return userOf(grant);
        case "/api/v3/user/emails":
          return emailsOf(grant, github.app);
        default:
          return undefined;
      }
    },
  };
  return github;
}

function userOf({ person }: Grant): Response {
  const { id, login, name, email } = person;
  return Response.json({
    id: Number(id),
    login,
    name,
    // What the user shows to everybody. It isn't told whether it is verified.
    email,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    type: "User",
  });
}

function emailsOf({ person, scope }: Grant, app: GitHub["app"]): Response {
  if (app !== undefined) {
    if (!app.mayReadEmails) {
      return Response.json({
        message: "Resource not accessible by integration",
        status: "403",
      }, { status: 403 });
    }
  } else if (!scope.includes("user:email") && !scope.includes("user")) {
    return Response.json({ message: "Not Found", status: "404" }, {
      status: 404,
    });
  }
  const { id, login, email, isEmailVerified } = person;
  const other = `${id}+${login}@users.noreply.github.com`;
  return Response.json([
    { email: other, primary: false, verified: true, visibility: null },
    { email, primary: true, verified: isEmailVerified, visibility: "private" },
  ]);
}
