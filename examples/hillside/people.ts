/** Somebody with an account at the local OAuth server. */
export interface Person {
  /** A number in decimal digits, as all three providers have them. */
  readonly id: string;
  /** The name of the account. */
  readonly login: string;
  /** The name for people to read, if the person has given one. */
  readonly name: string | null;
  readonly email: string;
  /** Whether the person has shown to own the address. */
  readonly isEmailVerified: boolean;
  /** The organization's domain, if it is an organization's account. */
  readonly domain: string | null;
  /** The numbers of the guilds that the person is a member of. */
  readonly guilds: readonly string[];
}

/** The guild that Ada is a member of. */
export const GUILD = "197038439483310086";

/** Whoever can sign in, unless the server is told otherwise. */
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
    // Says to be Ada, and has never shown it.
    id: "666",
    login: "mallory",
    name: null,
    email: "ada@example.com",
    isEmailVerified: false,
    domain: null,
    guilds: [],
  },
];
