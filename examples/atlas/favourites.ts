// The favourite countries of users.

import type { DatabaseSync } from "node:sqlite";
import type { CountryName } from "./countries.ts";
import { rows } from "./database.ts";

/** Lists a user's favourites, sorted by name. */
export function listFavourites(
  database: DatabaseSync,
  user: string,
): CountryName[] {
  return rows<CountryName>(
    database.prepare(`
      SELECT country.code, name, flag, region FROM favourite
      JOIN country ON country.code = favourite.code
      WHERE user = ? ORDER BY name
    `).all(user),
  );
}

/** Adds a favourite, if it isn't one yet. */
export function addFavourite(
  database: DatabaseSync,
  user: string,
  code: string,
): void {
  database.prepare("INSERT OR IGNORE INTO favourite VALUES (?, ?)")
    .run(user, code.toUpperCase());
}

/** Removes a favourite, if it is one. */
export function removeFavourite(
  database: DatabaseSync,
  user: string,
  code: string,
): void {
  database.prepare("DELETE FROM favourite WHERE user = ? AND code = ?")
    .run(user, code.toUpperCase());
}
