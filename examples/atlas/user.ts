// The users.

import type { DatabaseSync } from "node:sqlite";
import { rows } from "./database.ts";

/** A user, without password and e-mail address. */
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
 * Adds a user with a password. The first one becomes the admin.
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

/** Whether there is an admin. */
export function hasAdmin(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM user WHERE is_admin").get() !==
    undefined;
}

/** Finds a user with a password. */
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
 * Finds or adds a user of Hillside. The account is separate from any account
 * with the same e-mail address: Atlas doesn't verify addresses at sign-up.
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
