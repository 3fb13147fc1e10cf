import type { Grant } from "./grants.ts";
import type { Realm } from "./realm.ts";

const MEMBER = /^\/api\/users\/@me\/guilds\/(\d+)\/member$/;

/** Creates Discord's endpoints: sign-in, the user, and members of a guild. */
export function createDiscord(): Realm {
  return {
    title: "Discord",
    authorizePath: "/oauth2/authorize",
    tokenPath: "/api/oauth2/token",
    answerToken: ({ accessToken, grant }) =>
      Response.json({
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: 604800,
        refresh_token: crypto.randomUUID(),
        scope: grant.scope.join(" "),
      }),
    answerError: (code) =>
      Response.json({ error: code }, {
        status: code === "invalid_client" ? 401 : 400,
      }),
    answer(path, grant) {
      const guild = MEMBER.exec(path)?.[1];
      if (path !== "/api/users/@me" && guild === undefined) return undefined;
      if (grant === undefined) {
        return Response.json({ message: "401: Unauthorized", code: 0 }, {
          status: 401,
        });
      }
      return guild === undefined ? userOf(grant) : memberOf(grant, guild);
    },
  };
}

function userOf({ person, scope }: Grant): Response {
  const { id, login, name, email, isEmailVerified } = person;
  return Response.json({
    id,
    username: login,
    discriminator: "0",
    global_name: name,
    avatar: name === null ? null : "a_0123456789abcdef0123456789abcdef",
    ...(scope.includes("email") ? { email, verified: isEmailVerified } : {}),
  });
}

function memberOf({ person, scope }: Grant, guild: string): Response {
  if (!scope.includes("guilds.members.read")) {
    return Response.json({ message: "Missing Access", code: 50001 }, {
      status: 403,
    });
  }
  if (!person.guilds.includes(guild)) {
    return Response.json({ message: "Unknown Guild", code: 10004 }, {
      status: 404,
    });
  }
  const user = { id: person.id, username: person.login };
  return Response.json({ user, nick: null, roles: [], pending: false });
}
