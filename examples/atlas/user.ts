// The people who have signed up.

import type { DatabaseSync } from "node:sqlite";
import { rows } from "./database.ts";

/** Somebody with an account, as the rest of Atlas knows them. */
export interface AtlasUser {
  readonly id: string;
  readonly name: string;
  readonly roles: string[];
}

interface UserRow {
  readonly id: string;
  readonly name: string;
  readonly password_hash: string | null;
  readonly is_admin: number;
}

/**
 * Adds somebody who signs in by password. The first one is the admin: whoever
 * has just started the demo.
 *
 * @returns The user, or `undefined` if the e-mail address is taken.
 */
export function addUser(
  database: DatabaseSync,
  user: { name: string; email: string; passwordHash: string },
): AtlasUser | undefined {
  const [row] = rows<UserRow>(
    database.prepare(`
      INSERT INTO user (id, name, email, password_hash, is_admin)
      VALUES (?, ?, ?, ?, NOT EXISTS (SELECT 1 FROM user WHERE is_admin))
      ON CONFLICT (email) DO NOTHING
      RETURNING *
    `).all(crypto.randomUUID(), user.name, user.email, user.passwordHash),
  );
  return row && toUser(row);
}

/** Whether the next one to sign up by password will be the admin. */
export function isAdminWanted(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM user WHERE is_admin").get() ===
    undefined;
}

/** Finds somebody who signs in by password. */
export function findByEmail(
  database: DatabaseSync,
  email: string,
): { user: AtlasUser; passwordHash: string | null } | undefined {
  const [row] = rows<UserRow>(
    database.prepare("SELECT * FROM user WHERE email = ?").all(email),
  );
  return row && { user: toUser(row), passwordHash: row.password_hash };
}

/**
 * Finds or adds somebody whom Hillside knows. Nobody has shown to own the
 * addresses that people sign up with here, so one that Hillside tells must not
 * open the account of the same address: these are accounts of their own.
 */
export function rememberHillsideUser(
  database: DatabaseSync,
  { id, name }: { id: string; name: string },
): AtlasUser {
  const [row] = rows<UserRow>(
    database.prepare(`
      INSERT INTO user (id, name) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name
      RETURNING *
    `).all(`hillside:${id}`, name),
  );
  return toUser(row!);
}

function toUser({ id, name, is_admin }: UserRow): AtlasUser {
  return { id, name, roles: is_admin ? ["admin"] : [] };
}
