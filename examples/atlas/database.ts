// The database: a SQLite file. A new file is filled with the countries.

import { DatabaseSync } from "node:sqlite";
import countries from "world-countries/countries.json" with { type: "json" };
import { tracedAdapter } from "@quartet/kit/trace";

/** The migrations, one for each version of the file. */
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
    -- NULL for users who sign in with Hillside.
    email TEXT UNIQUE,
    password_hash TEXT,
    is_admin INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  -- Version 2 stored favourites for browsers, not for users.
  DROP TABLE favourite;
  CREATE TABLE favourite (
    user TEXT NOT NULL REFERENCES user (id),
    code TEXT NOT NULL REFERENCES country (code),
    PRIMARY KEY (user, code)
  ) STRICT, WITHOUT ROWID;
`;

/** Opens the database. Its queries appear in the traces. */
export function openDatabase(path: string): DatabaseSync {
  // Waits up to 5,000 ms while another process writes.
  const database = new DatabaseSync(path, { timeout: 5_000 });
  try {
    migrate(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return tracedAdapter(database, { system: "sqlite" });
}

/** Casts the rows of a query. SQLite's driver has no types for them. */
export function rows<T>(result: readonly unknown[]): T[] {
  return result as T[];
}

/** Runs all missing migrations in one transaction. */
function migrate(database: DatabaseSync): void {
  if (versionOf(database) >= MIGRATIONS.length) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have run some of them in the meantime.
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
