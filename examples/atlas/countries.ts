// Queries for countries.

import type { DatabaseSync } from "node:sqlite";
import { rows } from "./database.ts";

/** A country in a list. */
export interface CountryName {
  readonly code: string;
  readonly name: string;
  readonly flag: string;
  readonly region: string;
}

export interface Country extends CountryName {
  readonly official_name: string;
  readonly capital: string;
  readonly subregion: string;
  readonly languages: string;
  readonly currencies: string;
  /** The area in square kilometres. */
  readonly area: number;
}

/** Finds the countries whose name or capital contains a text. */
export function searchCountries(
  database: DatabaseSync,
  query: string,
): CountryName[] {
  const pattern = `%${query.replace(/[%_\\]/g, "\\$&")}%`;
  return rows<CountryName>(
    database.prepare(`
      SELECT code, name, flag, region FROM country
      WHERE name LIKE ?1 ESCAPE '\\' OR capital LIKE ?1 ESCAPE '\\'
      ORDER BY name
    `).all(pattern),
  );
}

/** Finds a country by its three-letter code (ISO 3166-1 alpha-3). */
export function findCountry(
  database: DatabaseSync,
  code: string,
): Country | undefined {
  return rows<Country>(
    database.prepare("SELECT * FROM country WHERE code = ?")
      .all(code.toUpperCase()),
  )[0];
}

/** Finds the neighbours of a country. */
export function findBorders(
  database: DatabaseSync,
  code: string,
): CountryName[] {
  return rows<CountryName>(
    database.prepare(`
      SELECT country.code, name, flag, region FROM border
      JOIN country ON country.code = border.neighbour
      WHERE border.code = ? ORDER BY name
    `).all(code),
  );
}

export function setCapital(
  database: DatabaseSync,
  code: string,
  capital: string,
): void {
  database.prepare("UPDATE country SET capital = ? WHERE code = ?")
    .run(capital, code);
}
