import type { OptionRules } from "../../core/check/check_options.ts";
import { textOf } from "../oauth/client.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import type { AuthProvider, OAuthTokens } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkNames } from "./check.ts";
import type { OAuthClientOptions } from "./oauth_options.ts";
import { OAUTH_CLIENT_OPTIONS, resolveOAuth } from "./oauth_options.ts";
import type { ProfileMapper, ProfileOption } from "./oauth_provider.ts";
import { createOAuthProvider } from "./oauth_provider.ts";

const SITE = "https://discord.com";
/** Lets an application ask for a user's membership of one guild. */
const MEMBER_SCOPE = "guilds.members.read";
const SNOWFLAKE = /^\d{1,20}$/;
/** The hash of a picture; an animated one begins with `a_`. */
const AVATAR = /^\w+$/;

/** The options of {@linkcode presetChat}. */
export interface DiscordOptions extends OAuthClientOptions {
  /** Names the provider in `signIn()`. Default `discord`. */
  readonly id?: string;
  /** A name for people to read. Default `Discord`. */
  readonly name?: string;
  /** What the user is asked to allow. Default `["identify", "email"]`. */
  readonly scope?: readonly string[];
  /**
   * Lets in only members of this guild (which Discord's pages call a server).
   * Adds `guilds.members.read` to the scope.
   */
  readonly guildId?: string;
}

const OPTIONS: OptionRules<DiscordOptions & { readonly profile: unknown }> = {
  ...OAUTH_CLIENT_OPTIONS,
  guildId: true,
};

/** What Discord knows of a user. */
export type DiscordProfile = {
  /** Discord's number of the user. Unlike the names, it never changes. */
  id: string;
  /** The name that the user wants to be shown. */
  name: string;
  /** The user's e-mail address, if it is verified. */
  email?: string | undefined;
  /** The name of the user's account. */
  username: string;
  /** The address of the user's picture. */
  picture?: string | undefined;
};

/**
 * Makes a provider that signs users in with Discord.
 *
 * The user is what {@linkcode DiscordProfile} has, or what `profile` makes of it.
 *
 * @param options What Discord knows the application by.
 * @throws {AuthError} `CONFIG` if an option is wrong.
 *
 * @example
 * ```ts
 * import { discord } from "@quartet/kit/auth";
 *
 * const provider = discord({
 *   clientId: "157730590492196864",
 *   clientSecret: "the secret from Discord's developer portal",
 *   guildId: "197038439483310086",
 * });
 *
 * console.assert(provider.id === "discord");
 * ```
 */
export function presetChat<U extends BaseUser>(
  options: DiscordOptions & ProfileOption<DiscordProfile, U>,
): AuthProvider<U>;
/** The same, where users are what {@linkcode DiscordProfile} has. */
export function presetChat(
  options: DiscordOptions,
): AuthProvider<User>;
export function presetChat(
  options: DiscordOptions & Partial<ProfileOption<DiscordProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  checkNames("Discord", options, OPTIONS);
  const { guildId, scope = ["identify", "email"] } = options;
  const isScopeMissing = guildId !== undefined && Array.isArray(scope) &&
    !scope.includes(MEMBER_SCOPE);
  const settings = resolveOAuth("Discord", {
    ...options,
    scope: isScopeMissing ? [...scope, MEMBER_SCOPE] : scope,
  }, {
    id: "discord",
    name: "Discord",
    scope,
    endpoints: {
      authorizationUrl: `${SITE}/oauth2/authorize`,
      tokenUrl: `${SITE}/api/oauth2/token`,
      userInfoUrl: `${SITE}/api/users/@me`,
    },
    issuer: options.authorizationUrl === undefined ? SITE : undefined,
  });
  const { check, client } = settings;
  const userInfoUrl = settings.userInfoUrl!;
  check(
    guildId === undefined ||
      typeof guildId === "string" && SNOWFLAKE.test(guildId),
    "guildId",
    "a guild's number, as a string",
    guildId,
  );
  const toUser: ProfileMapper<DiscordProfile, BaseUser> = options.profile ??
    ((profile) => profile);

  async function isMember(guild: string, tokens: OAuthTokens) {
    const url = new URL(userInfoUrl);
    url.pathname += `/guilds/${guild}/member`;
    const what = "the endpoint of guild members";
    try {
      asObject(what, await client.get(what, url.href, tokens));
      return true;
    } catch (error) {
      // 404 is how Discord says that the user isn't there.
      if (error instanceof ProviderError && error.status === 404) return false;
      throw error;
    }
  }

  return createOAuthProvider<DiscordProfile, BaseUser>(
    settings,
    async (tokens, callback) => {
      if (guildId !== undefined && !await isMember(guildId, tokens)) {
        callback.onRefused?.(
          "the user is not a member of the guild that guildId names",
        );
        return null;
      }
      const what = "the user endpoint";
      const user = asObject(what, await client.get(what, userInfoUrl, tokens));
      const id = textOf(user["id"]);
      const username = textOf(user["username"]);
      if (id === undefined || username === undefined) {
        throw new ProviderError(`${what} gave no id and username`);
      }
      return {
        id,
        name: textOf(user["global_name"]) ?? username,
        email: user["verified"] === true ? textOf(user["email"]) : undefined,
        username,
        picture: pictureOf(id, user["avatar"]),
      };
    },
    toUser,
  );
}

export { presetChat as discord };

function pictureOf(id: string, avatar: unknown): string | undefined {
  return SNOWFLAKE.test(id) && typeof avatar === "string" && AVATAR.test(avatar)
    ? `https://cdn.discordapp.com/avatars/${id}/${avatar}.png`
    : undefined;
}
