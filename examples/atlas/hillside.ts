// Hillside, where people have accounts already. It stands in for GitHub, on
// this machine: an OAuth server where one signs in by clicking on a name.

import { createApp, serve } from "@quartet/kit/app";
import type { Plugin } from "@quartet/kit/app";
import type { GitHubOptions } from "@quartet/kit/auth";
import { traceMiddleware } from "@quartet/kit/trace";
import { createOAuthServer } from "../hillside/mod.ts";

/** Where Hillside sends people back to. */
export const CALLBACK_PATH = "/sign-in/hillside/callback";

/** Hillside. As a plugin it closes with the app. */
export interface Hillside extends Plugin {
  /** Where it listens. */
  readonly origin: string;
  /** What one gets who registers an application there. */
  readonly registration: Required<
    Pick<GitHubOptions, "clientId" | "clientSecret" | "enterprise">
  >;
}

/** Starts Hillside on a free port. */
export function startHillside(): Hillside {
  const client = {
    id: "atlas",
    secret: crypto.randomUUID(),
    // On these, any port will do.
    redirectUris: ["http://127.0.0.1", "http://localhost"]
      .map((host) => host + CALLBACK_PATH),
  };
  const oauth = createOAuthServer({ client, title: "Hillside" });
  const app = createApp().use(traceMiddleware())
    .use((request) => oauth.fetch(request));
  const server = serve(app, { port: 0, signals: false, onListen() {} });
  const origin = `http://127.0.0.1:${server.address.port}`;
  return {
    name: "hillside",
    origin,
    registration: {
      clientId: client.id,
      clientSecret: client.secret,
      enterprise: { baseUrl: `${origin}/github` },
    },
    close: () => server.shutdown(),
  };
}
