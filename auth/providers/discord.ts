import type { OptionRules } from "../../core/check/options.ts";
import { matching } from "../../core/check/rules.ts";
import { textOf } from "../oauth/client.ts";
import { asObject, ProviderError } from "../oauth/http.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { readOptions } from "./check.ts";
import {
  createOAuthProvider,
  OAUTH_OPTIONS,
  type OAuthClientOptions,
  type ProfileOption,
  type ProfileSource,
} from "./oauth_provider.ts";

const SITE = "https://discord.com";
/** Allows an application to see whether a user is a member of a guild. */
const MEMBER_SCOPE = "guilds.members.read";
const SNOWFLAKE = /^\d{1,20}$/;
/** The hash of a picture. It begins with `a_` if the picture is animated. */
const AVATAR = /^\w+$/;

/** The options of {@linkcode presetChat}. */
export interface DiscordOptions<Id extends string = string>
  extends OAuthClientOptions<Id> {
  /** The requested scopes. Default: `["identify", "email"]`. */
  readonly scope?: readonly string[];
  /**
   * The only guild whose members can sign in. Discord's pages call it
   * a server. Adds `guilds.members.read` to the scope. Default: everybody can.
   */
  readonly guildId?: string;
}

const OPTIONS: OptionRules<DiscordOptions & { readonly profile: unknown }> = {
  ...OAUTH_OPTIONS,
  guildId: matching("a guild's number, as a string", SNOWFLAKE),
};
const OPERATION = "create Discord provider";
const DEFAULTS = {
  id: "discord",
  name: "Discord",
  scope: ["identify", "email"],
  authorizationUrl: `${SITE}/oauth2/authorize`,
  tokenUrl: `${SITE}/api/oauth2/token`,
  userInfoUrl: `${SITE}/api/users/@me`,
  profile: (profile: DiscordProfile): BaseUser => profile,
};

/** A user of Discord. */
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
 * Creates a provider that signs users in with Discord.
 *
 * The user has the fields of {@linkcode DiscordProfile}, or is what `profile`
 * returns.
 *
 * @param options The application's id and secret at Discord, and more.
 * @throws {TypeError} If an option is wrong.
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
export function presetChat<
  U extends BaseUser,
  const Id extends string = "discord",
>(
  options: DiscordOptions<Id> & ProfileOption<DiscordProfile, U>,
): AuthProvider<U, Id>;
/** The same without `profile`. */
export function presetChat<const Id extends string = "discord">(
  options: DiscordOptions<Id>,
): AuthProvider<User, Id>;
export function presetChat(
  options: DiscordOptions & Partial<ProfileOption<DiscordProfile, BaseUser>>,
): AuthProvider<BaseUser> {
  const settings = readOptions(OPERATION, options, OPTIONS, DEFAULTS);
  const { guildId, scope, userInfoUrl } = settings;
  const isScopeMissing = guildId !== undefined && !scope.includes(MEMBER_SCOPE);

  return createOAuthProvider<DiscordProfile>({
    ...settings,
    scope: isScopeMissing ? [...scope, MEMBER_SCOPE] : scope,
    operation: OPERATION,
    issuer: options.authorizationUrl === undefined ? SITE : undefined,
    async readProfile(source) {
      if (guildId !== undefined) {
        const url = new URL(userInfoUrl);
        url.pathname += `/guilds/${guildId}/member`;
        if (!await isMember(url.href, source)) {
          return source.refuse(
            "the user is not a member of the guild that guildId names",
          );
        }
      }
      return toProfile(source.info);
    },
  });
}

export { presetChat as discord };

async function isMember(url: string, { get }: ProfileSource): Promise<boolean> {
  const what = "the endpoint of guild members";
  try {
    asObject(what, await get(what, url));
    return true;
  } catch (error) {
    // Discord answers 404 if the user isn't a member.
    if (error instanceof ProviderError && error.status === 404) return false;
    throw error;
  }
}

function toProfile(info: Readonly<Record<string, unknown>>): DiscordProfile {
  const id = textOf(info["id"]);
  const username = textOf(info["username"]);
  if (id === undefined || username === undefined) {
    throw new ProviderError(
      "the user-info endpoint returned no id and username",
    );
  }
  const { avatar } = info;
  const hasPicture = SNOWFLAKE.test(id) && typeof avatar === "string" &&
    AVATAR.test(avatar);
  return {
    id,
    name: textOf(info["global_name"]) ?? username,
    email: info["verified"] === true ? textOf(info["email"]) : undefined,
    username,
    picture: hasPicture
      ? `https://cdn.discordapp.com/avatars/${id}/${avatar}.png`
      : undefined,
  };
}
