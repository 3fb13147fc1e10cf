// Hillside, an OAuth server on this machine that behaves like GitHub. Users
// sign in there by clicking on a name.

import { createApp, serve } from "@quartet/kit/app";
import type { Plugin } from "@quartet/kit/app";
import type { GitHubOptions } from "@quartet/kit/auth";
import { traceMiddleware } from "@quartet/kit/trace";
import { createOAuthServer } from "../hillside/mod.ts";

/** The path of the OAuth callback. */
export const CALLBACK_PATH = "/sign-in/hillside/callback";

/** The OAuth server, as a plugin: it closes with the app. */
export interface Hillside extends Plugin {
  /** The origin that it listens on. */
  readonly origin: string;
  /** The settings of Atlas' registration. */
  readonly registration: Required<
    Pick<GitHubOptions, "clientId" | "clientSecret" | "enterprise">
  >;
}

/** Starts Hillside on a free port. */
export function startHillside(): Hillside {
  const client = {
    id: "atlas",
    secret: crypto.randomUUID(),
    // Each of these hosts allows any port.
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
