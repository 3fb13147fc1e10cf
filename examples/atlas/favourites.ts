// The countries that a visitor has marked.

import type { DatabaseSync } from "node:sqlite";
import type { CountryName } from "./countries.ts";
import { rows } from "./countries.ts";

/** Lists a visitor's favourites by name. */
export function listFavourites(
  database: DatabaseSync,
  visitor: string,
): CountryName[] {
  return rows<CountryName>(
    database.prepare(`
      SELECT country.code, name, flag, region FROM favourite
      JOIN country ON country.code = favourite.code
      WHERE visitor = ? ORDER BY name
    `).all(visitor),
  );
}

/** Marks a country. It may be marked already. */
export function addFavourite(
  database: DatabaseSync,
  visitor: string,
  code: string,
): void {
  database.prepare("INSERT OR IGNORE INTO favourite VALUES (?, ?)")
    .run(visitor, code.toUpperCase());
}

/** Takes the mark away, if there is one. */
export function removeFavourite(
  database: DatabaseSync,
  visitor: string,
  code: string,
): void {
  database.prepare("DELETE FROM favourite WHERE visitor = ? AND code = ?")
    .run(visitor, code.toUpperCase());
}
