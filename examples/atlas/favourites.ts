// The countries that somebody has marked.

import type { DatabaseSync } from "node:sqlite";
import type { CountryName } from "./countries.ts";
import { rows } from "./database.ts";

/** Lists a user's favourites by name. */
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

/** Marks a country. It may be marked already. */
export function addFavourite(
  database: DatabaseSync,
  user: string,
  code: string,
): void {
  database.prepare("INSERT OR IGNORE INTO favourite VALUES (?, ?)")
    .run(user, code.toUpperCase());
}

/** Takes the mark away, if there is one. */
export function removeFavourite(
  database: DatabaseSync,
  user: string,
  code: string,
): void {
  database.prepare("DELETE FROM favourite WHERE user = ? AND code = ?")
    .run(user, code.toUpperCase());
}
