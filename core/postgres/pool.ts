import { WorkCounter } from "../closing.ts";
import type { PostgresConnection, PostgresRow } from "./connection.ts";
import { isConflict } from "./errors.ts";

/** A statement, or several without values. */
export type PostgresStatement = Readonly<
  Parameters<PostgresConnection["query"]>
>;

/** A connection, and its beats without use. */
interface Member {
  readonly connection: PostgresConnection;
  idleBeats: number;
}

/** Beats without use after which a surplus connection closes. */
const MAX_IDLE_BEATS = 20;

/** Creates a connection that calls `onError` when it fails. */
export type Create = (onError: (error: Error) => void) => PostgresConnection;

/**
 * Creates a pool whose connections open when all others are busy. Queries start in
 * the order of the calls. If an open connection fails, the pool must be replaced.
 *
 * @param onError Called when an open connection fails.
 * @param max Maximum connections.
 * @param tag Begins each statement, as a comment.
 */
export function createPool(
  create: Create,
  onError: (error: Error) => void,
  max: number,
  tag: string,
) {
  const all = new Set<PostgresConnection>();
  const idle: Member[] = [];
  const waiting: ((member: Member) => void)[] = [];
  /** The connection that is being opened. */
  let opening: PostgresConnection | undefined;
  let mayGrow = true;
  const closings = new WorkCounter();

  /** Opens a connection. */
  async function open(): Promise<void> {
    const connection = opening = create((error) => {
      if (all.has(connection)) onError(error);
    });
    try {
      await connection.connect();
      all.add(connection);
    } finally {
      opening = undefined;
      if (!all.has(connection)) drop(connection);
    }
    release({ connection, idleBeats: 0 });
  }

  /**
   * Runs a statement on the next connection that is free.
   *
   * @param prepare Called when it is sent.
   */
  async function run(
    prepare: () => PostgresStatement,
  ): Promise<readonly PostgresRow[]> {
    const member = idle.pop() ?? await free();
    member.idleBeats = 0;
    try {
      for (const [text, values] = prepare();;) {
        try {
          return await member.connection.query(tag + text, values);
        } catch (error) {
          if (!isConflict(error as Error)) throw error;
        }
      }
    } finally {
      release(member);
    }
  }

  /** Waits for an answer on each idle connection, unless it is closed. */
  async function beat(): Promise<void> {
    mayGrow = true;
    await Promise.all(
      idle.splice(0).map(async (member) => {
        const { connection } = member;
        if (++member.idleBeats > MAX_IDLE_BEATS && all.size > 1) {
          all.delete(connection);
          return drop(connection);
        }
        await connection.query("SELECT 1");
        release(member);
      }),
    );
  }

  function drop(connection: PostgresConnection): Promise<unknown> {
    closings.begin();
    return connection.close().finally(closings.end);
  }

  /**
   * Closes all connections at once. Resolves when they are closed, and those that
   * were dropped before.
   */
  function close(): Promise<unknown> {
    if (opening !== undefined) drop(opening);
    all.forEach(drop);
    return closings.idle();
  }

  function free(): Promise<Member> {
    grow();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function grow(): void {
    if (!mayGrow || opening !== undefined || all.size >= max) return;
    open().then(() => {
      if (waiting.length > 0) grow();
    }, () => {
      // Such as too many connections: use the open ones.
      mayGrow = false;
    });
  }

  function release(member: Member): void {
    const next = waiting.shift();
    if (next !== undefined) next(member);
    else idle.push(member);
  }

  return { open, run, beat, close };
}
