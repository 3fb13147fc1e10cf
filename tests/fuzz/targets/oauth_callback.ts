import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import type { Route } from "@quartet/kit/app";
import {
  getOAuthUrl,
  handleOAuthCallback,
  presetCodeHost,
} from "@quartet/kit/auth";
import { startAuth } from "../../auth/harness.ts";
import { startProvider } from "../../auth/oauth_setup.ts";
import { applyEdits, edits, piece } from "../input/mutate.ts";
import type { Edit } from "../input/mutate.ts";
import { asHeader } from "../input/request.ts";
import { defineTarget } from "../target.ts";

const untouched: fc.Arbitrary<Edit[]> = fc.constant([]);

/** The original value, a changed one, or a different one. */
const tampered = fc.oneof(
  { arbitrary: untouched, weight: 2 },
  { arbitrary: edits, weight: 2 },
  { arbitrary: piece, weight: 1 },
);

const input = fc.record({
  state: tampered,
  cookie: tampered,
  code: piece,
  redirectUri: fc.oneof(
    { arbitrary: untouched, weight: 4 },
    { arbitrary: tampered, weight: 1 },
  ),
});

const CALLBACK = "http://127.0.0.1/callback";

const ROUTES: readonly Route[] = [{
  path: "/start",
  loader: ({ context }) =>
    Response.redirect(getOAuthUrl(context, "github", CALLBACK), 303),
}, {
  path: "/callback",
  async action({ request, context }) {
    const { code, state, redirectUri } = await request.json();
    return await handleOAuthCallback(context, "github", {
      code,
      state,
      redirectUri,
    });
  },
}];

/** Callbacks from OAuth providers, real and forged. */
export const oauthCallback = defineTarget(
  "oauth-callback",
  "a callback with any changed value signs nobody in and is an error",
  input,
  async () => {
    const provider = startProvider();
    const lines: string[] = [];
    const { error: print } = console;
    console.error = (...args) => void lines.push(args.join(" "));
    const server = await startAuth(
      { providers: [presetCodeHost(provider.github)] },
      ROUTES,
    );
    return {
      async check({ state, cookie, code, redirectUri }) {
        const browser = server.browser();
        const start = await browser.ask("/start");
        await start.body?.cancel();
        const location = new URL(start.headers.get("location")!);
        const sent = location.searchParams.get("state")!;
        // This cookie holds the state of the sign-in.
        const [name, { value }] = [...browser.cookies][0]!;
        const given = {
          state: tamper(sent, state),
          cookie: asHeader(tamper(value, cookie)),
          redirectUri: tamper(CALLBACK, redirectUri),
        };
        const isTampered = given.state !== sent || given.cookie !== value ||
          given.redirectUri !== CALLBACK;
        let response: Response;
        try {
          response = await browser.ask("/callback", {
            body: { code, state: given.state, redirectUri: given.redirectUri },
            headers: { cookie: `${name}=${given.cookie}` },
          });
        } catch (error) {
          // No client can send this cookie.
          if (error instanceof TypeError) return "not sent";
          throw error;
        }
        const { error } = await response.json();
        assertEquals(server.errors, []);
        const { status } = response;
        // Texts this short aren't secrets and may appear in any line.
        const secrets = [sent, value, code, provider.github.clientSecret]
          .filter(({ length }) => length > 10);
        for (const line of lines.splice(0)) {
          assert(!secrets.some((secret) => line.includes(secret)), line);
        }
        // The provider knows no such code, so nobody can be signed in.
        assert([400, 401, 502].includes(status), `${status}`);
        assertEquals(browser.cookies.has("app.session"), false);
        // White space around a cookie's value isn't part of it.
        if (isTampered && given.cookie.trim().split(";")[0] !== value) {
          assertEquals([status, error.code], [400, "OAUTH_STATE_MISMATCH"]);
        }
        return error.code;
      },
      async [Symbol.asyncDispose]() {
        console.error = print;
        await server[Symbol.asyncDispose]();
        await provider[Symbol.asyncDispose]();
      },
    };
  },
);

function tamper(
  text: string,
  how: string | readonly Edit[],
): string {
  return typeof how === "string" ? how : applyEdits(text, how);
}
