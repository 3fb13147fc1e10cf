import type { PostgresConnection, PostgresRow } from "./connection.ts";

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

/** Options of a {@linkcode ConnectionPool}. */
export interface ConnectionPoolOptions {
  /** Creates a connection that calls `onError` when it fails. */
  readonly create: (onError: (error: Error) => void) => PostgresConnection;
  /** Called when an open connection fails. */
  readonly onError: (error: Error) => void;
  /** Maximum connections. */
  readonly max: number;
}

/**
 * A pool whose connections open when all others are busy. Queries start in the
 * order of the calls. If an open connection fails, the pool must be replaced.
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #open = new Set<PostgresConnection>();
  readonly #idle: Member[] = [];
  readonly #waiting: ((member: Member) => void)[] = [];
  /** The connection that is being opened. */
  #opening: PostgresConnection | undefined;
  #mayGrow = true;

  /** Creates a pool without connections. */
  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  /** Opens a connection. */
  async open(): Promise<void> {
    const { create, onError } = this.#options;
    const connection = this.#opening = create((error) => {
      if (this.#open.has(connection)) onError(error);
    });
    try {
      await connection.connect();
      this.#open.add(connection);
    } finally {
      this.#opening = undefined;
      if (!this.#open.has(connection)) connection.close();
    }
    this.#release({ connection, idleBeats: 0 });
  }

  /**
   * Runs a statement on the next connection that is free.
   *
   * @param prepare Called when it is sent.
   */
  async run(
    prepare: () => PostgresStatement,
  ): Promise<readonly PostgresRow[]> {
    const member = this.#idle.pop() ?? await this.#free();
    member.idleBeats = 0;
    try {
      return await member.connection.query(...prepare());
    } finally {
      this.#release(member);
    }
  }

  /** Waits for an answer on each idle connection, unless it is closed. */
  async beat(): Promise<void> {
    this.#mayGrow = true;
    await Promise.all(
      this.#idle.splice(0).map(async (member) => {
        const { connection } = member;
        if (++member.idleBeats > MAX_IDLE_BEATS && this.#open.size > 1) {
          this.#open.delete(connection);
          return connection.close();
        }
        await connection.query("SELECT 1");
        this.#release(member);
      }),
    );
  }

  /** Closes all connections at once. Resolves when they are closed. */
  close(): Promise<unknown> {
    const all = [this.#opening, ...this.#open];
    return Promise.all(all.map((connection) => connection?.close()));
  }

  #free(): Promise<Member> {
    this.#grow();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #grow(): void {
    if (!this.#mayGrow || this.#opening !== undefined) return;
    if (this.#open.size >= this.#options.max) return;
    this.open().then(() => {
      if (this.#waiting.length > 0) this.#grow();
    }, () => {
      // Such as too many connections: use the open ones.
      this.#mayGrow = false;
    });
  }

  #release(member: Member): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(member);
    else this.#idle.push(member);
  }
}
