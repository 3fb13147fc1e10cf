// The database: a SQLite file, filled with real data when it is new.

import { DatabaseSync } from "node:sqlite";
import countries from "world-countries/countries.json" with { type: "json" };
import { tracedAdapter } from "@quartet/kit/trace";

/** What makes each version of the file out of the one before. */
const MIGRATIONS = [createCountries, createFavourites, createUsers];

const COUNTRIES = `
  CREATE TABLE country (
    code TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    official_name TEXT NOT NULL,
    capital TEXT NOT NULL,
    region TEXT NOT NULL,
    subregion TEXT NOT NULL,
    languages TEXT NOT NULL,
    currencies TEXT NOT NULL,
    area REAL NOT NULL,
    flag TEXT NOT NULL
  ) STRICT;
  CREATE INDEX country_by_name ON country (name);
  CREATE TABLE border (
    code TEXT NOT NULL REFERENCES country (code),
    neighbour TEXT NOT NULL REFERENCES country (code),
    PRIMARY KEY (code, neighbour)
  ) STRICT, WITHOUT ROWID;
`;

const USERS = `
  CREATE TABLE user (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- What those sign in by who have a password here, and not at Hillside.
    email TEXT UNIQUE,
    password_hash TEXT,
    is_admin INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  -- They belonged to browsers before.
  DROP TABLE favourite;
  CREATE TABLE favourite (
    user TEXT NOT NULL REFERENCES user (id),
    code TEXT NOT NULL REFERENCES country (code),
    PRIMARY KEY (user, code)
  ) STRICT, WITHOUT ROWID;
`;

/** Opens the database. Its queries show in the traces of the requests. */
export function openDatabase(path: string): DatabaseSync {
  // Another process may be writing, in milliseconds.
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    migrate(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return tracedAdapter(database, { system: "sqlite" });
}

/** SQLite's driver does not know what a query selects; who wrote it does. */
export function rows<T>(result: readonly unknown[]): T[] {
  return result as T[];
}

/** In one transaction: all steps that are missing are made, or none. */
function migrate(database: DatabaseSync): void {
  if (versionOf(database) >= MIGRATIONS.length) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have made them while this one waited.
  for (const step of MIGRATIONS.slice(versionOf(database))) step(database);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}

function versionOf(database: DatabaseSync): number {
  const { user_version: version } = database.prepare("PRAGMA user_version")
    .get() as { user_version: number };
  return version;
}

function createFavourites(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE favourite (
      visitor TEXT NOT NULL,
      code TEXT NOT NULL REFERENCES country (code),
      PRIMARY KEY (visitor, code)
    ) STRICT, WITHOUT ROWID;
  `);
}

function createUsers(database: DatabaseSync): void {
  database.exec(USERS);
}

function createCountries(database: DatabaseSync): void {
  database.exec(COUNTRIES);
  const addCountry = database.prepare(
    "INSERT INTO country VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const addBorder = database.prepare("INSERT INTO border VALUES (?, ?)");
  for (const country of countries) {
    addCountry.run(
      country.cca3,
      country.name.common,
      country.name.official,
      country.capital.join(", "),
      country.region,
      country.subregion,
      Object.values(country.languages).join(", "),
      Object.values<{ name: string }>(country.currencies)
        .map(({ name }) => name).join(", "),
      country.area,
      country.flag,
    );
  }
  for (const { cca3, borders } of countries) {
    for (const neighbour of borders) addBorder.run(cca3, neighbour);
  }
}
