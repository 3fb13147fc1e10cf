/**
 * Authentication and authorization: sign-in by password, OAuth or API key,
 * sessions in signed tokens or in a store, and guards for routes. Guards also
 * reject cross-site requests (CSRF).
 *
 * @example Sign in, then open a guarded route
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import {
 *   createAuthPlugin,
 *   credentials,
 *   publicAction,
 *   requireAuth,
 * } from "@quartet/kit/auth";
 *
 * const auth = createAuthPlugin({
 *   // In production: Deno.env.get("SESSION_SECRET")
 *   session: { secret: "a secret of at least thirty-two bytes" },
 *   providers: [
 *     credentials({
 *       authorize: ({ name, password }) =>
 *         name === "ada" && password === "engine" ? { id: "1", name } : null,
 *     }),
 *   ],
 * });
 * const app = createApp({ plugins: [auth] });
 * app.route({
 *   path: "/sign-in",
 *   // Open to everybody, but rejects form posts from other sites.
 *   config: { ...publicAction() },
 *   action: async ({ request, context }) => {
 *     const form = Object.fromEntries(await request.formData());
 *     await auth.getAuth(context).signIn("credentials", form);
 *   },
 * });
 * app.route({
 *   path: "/me",
 *   config: { ...requireAuth() },
 *   loader: ({ context }) => auth.getUser(context)?.name,
 * });
 *
 * const anonymous = await app.fetch(new Request("http://localhost/me"));
 * console.assert(anonymous.status === 401);
 *
 * const body = new URLSearchParams({ name: "ada", password: "engine" });
 * const signedIn = await app.fetch(
 *   new Request("http://localhost/sign-in", { method: "POST", body }),
 * );
 * const [cookie = ""] = signedIn.headers.getSetCookie();
 * const me = await app.fetch(
 *   new Request("http://localhost/me", { headers: { cookie } }),
 * );
 * console.assert(await me.json() === "ada");
 * ```
 *
 * @module
 */

export {
  getAuth,
  getOAuthUrl,
  getSession,
  getUser,
  handleOAuthCallback,
  type OAuthUrlOptions,
} from "./access.ts";
export type * from "./auth_context.ts";
export type { CookieOptions } from "./cookies/cookie_settings.ts";
export { AuthError, type AuthErrorCode } from "./error.ts";
export type { AuthEvent, DenialReason, RejectionReason } from "./events.ts";
export {
  optionalAuth,
  publicAction,
  requireAuth,
  type RequireAuthOptions,
  requireRoles,
  type RequireRolesOptions,
} from "./guards.ts";
export type { OAuthCallbackParameters } from "./oauth/callback.ts";
export type * from "./options.ts";
export * from "./password/password.ts";
export type { PasswordHashOptions } from "./password/password_hash.ts";
export * from "./plugin.ts";
export type * from "./provider.ts";
export { apiKey, type ApiKeyOptions } from "./providers/api_key.ts";
export * from "./providers/credentials.ts";
export * from "./providers/discord.ts";
export * from "./providers/github.ts";
export * from "./providers/google.ts";
export { mock, type MockOptions } from "./providers/mock.ts";
export * from "./providers/oauth.ts";
export type { OAuthProfile } from "./providers/oauth_profile.ts";
export type {
  OAuthClientOptions,
  ProfileMapper,
  ProfileOption,
} from "./providers/oauth_provider.ts";
export { safeRedirect } from "./safe_redirect.ts";
export * from "./sign_in/rate_limit_sign_in.ts";
export type {
  RateLimitFallback,
  SharedRateLimitOptions,
} from "../core/limits/rate_limit_options.ts";
export type * from "../core/limits/rate_limit_store.ts";
export * from "./stores/memory_session_store.ts";
export type { SessionRecord, SessionStore } from "./stores/session_store.ts";
export type { JWTPayload } from "./tokens/jwt.ts";
export type { BaseUser, Session, User } from "./user.ts";
export * from "./with_auth.ts";
