import type { Grant } from "./grants.ts";
import type { Realm } from "./realm.ts";

const ERRORS = {
  invalid_request: "bad_verification_code",
  invalid_client: "incorrect_client_credentials",
  invalid_grant: "bad_verification_code",
  unsupported_grant_type: "unsupported_grant_type",
} as const;

/** GitHub, with a switch for tests. */
export interface GitHub extends Realm {
  /**
   * Makes the client a GitHub App. Its tokens have no scopes. `mayReadEmails`
   * is its permission to read e-mail addresses.
   */
  app: { readonly mayReadEmails: boolean } | undefined;
}

/**
 * Creates the endpoints of GitHub Enterprise Server: sign-in, the user and their
 * e-mail addresses. github.com and ghe.com only have other addresses.
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
      // GitHub sends a form unless the client asks for JSON.
      return request.headers.get("accept")?.includes("application/json")
        ? Response.json(answer)
        : new Response(new URLSearchParams(answer));
    },
    // GitHub sends errors with status 200.
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
    // The public address. GitHub doesn't say here whether it's verified.
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
