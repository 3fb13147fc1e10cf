// The account page: a user's sessions, and signing out.

import type { Route } from "@quartet/kit/app";
import type { AuthPlugin, SessionInfo } from "@quartet/kit/auth";
import type { VNode } from "preact";
import { html, seeOther } from "./answer.tsx";
import { Page } from "./layout.tsx";
import type { AtlasUser } from "./user.ts";

export function accountRoutes(auth: AuthPlugin<AtlasUser>): Route[] {
  return [
    {
      path: "/account",
      loader: auth.withAuth(async ({ context, auth: { session } }) => {
        const sessions = await auth.listSessions(session.userId);
        return html(
          context,
          <AccountPage
            name={session.name!}
            sessions={sessions}
            current={session.sessionId}
          />,
        );
      }),
    },
    {
      path: "/sign-out-everywhere",
      action: auth.withAuth(async ({ auth: here }) => {
        await auth.revokeSessions(here.session.userId);
        await here.signOut();
        return seeOther("/");
      }),
    },
  ];
}

function AccountPage(
  { name, sessions, current }: {
    name: string;
    sessions: readonly SessionInfo[];
    current: string | undefined;
  },
): VNode {
  return (
    <Page title={`${name} – Atlas`}>
      <h1>{name}</h1>
      <h2>Your sessions</h2>
      <ul class="lines">
        {sessions.map(({ id, provider, createdAt }) => (
          <li key={id}>
            Since{" "}
            <time dateTime={createdAt.toISOString()}>
              {TIME.format(createdAt)}
            </time>, with {provider === "hillside" ? "Hillside" : "password"}
            {id === current && " (this browser)"}
          </li>
        ))}
      </ul>
      <form method="post">
        <button type="submit" formAction="/sign-out">Sign out</button>
        <button type="submit" formAction="/sign-out-everywhere">
          Sign out everywhere
        </button>
      </form>
    </Page>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "long",
  timeStyle: "long",
  timeZone: "UTC",
});
