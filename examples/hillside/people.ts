/** A person with an account at the local OAuth server. */
export interface Person {
  /** The id in decimal digits, as with all three providers. */
  readonly id: string;
  /** The name of the account. */
  readonly login: string;
  /** The display name, if the person has one. */
  readonly name: string | null;
  readonly email: string;
  /** Whether the address is verified. */
  readonly isEmailVerified: boolean;
  /** The domain of the organization that owns the account. */
  readonly domain: string | null;
  /** The ids of the person's guilds. */
  readonly guilds: readonly string[];
}

/** The guild that Ada is a member of. */
export const GUILD = "197038439483310086";

/** The people who can sign in by default. */
export const PEOPLE: readonly Person[] = [
  {
    id: "1815",
    login: "ada",
    name: "Ada Lovelace",
    email: "ada@example.com",
    isEmailVerified: true,
    domain: "example.com",
    guilds: [GUILD],
  },
  {
    id: "1906",
    login: "grace",
    name: "Grace Hopper",
    email: "grace@navy.example",
    isEmailVerified: true,
    domain: null,
    guilds: [],
  },
  {
    // Claims Ada's address without a verification.
    id: "666",
    login: "mallory",
    name: null,
    email: "ada@example.com",
    isEmailVerified: false,
    domain: null,
    guilds: [],
  },
];
