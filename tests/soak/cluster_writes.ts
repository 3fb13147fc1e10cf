/**
 * Acknowledged writes to several processes, and checks that all processes know
 * them: sessions and invalidations.
 *
 * @module
 */

import { MAX_STALENESS } from "../cluster/kit_app.ts";
import type { Visitor } from "../cluster/kit_process.ts";
import { pause, type SeveralKits } from "../cluster/several_kits.ts";
import type { SeededRandom } from "../trace/export/random.ts";

/** A session, and whether it has ended. */
interface KnownSession {
  readonly cookie: string;
  isOver: boolean;
}

/** Clients that write in turn. Disposing them stops them. */
export interface ClusterWrites extends AsyncDisposable {
  /** Numbers of acknowledged writes. */
  readonly counts: {
    signIns: number;
    signOuts: number;
    invalidations: number;
    /** Checks of sessions. */
    checks: number;
  };
  /** Acknowledged writes that processes have lost. */
  readonly lost: string[];
  /**
   * Returns the answers whose value was invalidated too long before the
   * request.
   */
  staleAnswers(): string[];
}

/** Maximum number of sessions to remember. */
const REMEMBERED = 300;
/**
 * Maximum age of a stale value, in milliseconds: the staleness that a
 * disconnected process allows, plus a margin for a busy machine.
 */
const STALENESS = MAX_STALENESS * 1_000 + 2_000;

/** Starts to write. */
export function startWrites(
  kits: SeveralKits,
  random: SeededRandom,
): ClusterWrites {
  const counts = { signIns: 0, signOuts: 0, invalidations: 0, checks: 0 };
  const lost: string[] = [];
  const sessions: KnownSession[] = [];
  const acknowledged: { version: number; at: number }[] = [];
  const stop = new AbortController();
  const visitor = kits.visit(0);
  const anyProcess = () => kits.kits[random.below(kits.kits.length)]!.process;

  /** Sends a request to a random process with a session's cookie. */
  async function ask(
    cookie: string,
    send: (visitor: Visitor) => ReturnType<Visitor["get"]>,
  ): Promise<number> {
    visitor.cookie = cookie;
    visitor.origin = anyProcess().origin;
    const { status, body } = await send(visitor);
    if (![0, 200, 401, 503].includes(status)) {
      lost.push(`session: ${status} ${JSON.stringify(body)}`);
    }
    return status;
  }

  async function signIn(): Promise<void> {
    const name = `member${counts.signIns}`;
    if (await ask("", (each) => each.post("/sign-in", { name })) !== 200) {
      return;
    }
    counts.signIns++;
    sessions.push({ cookie: visitor.cookie, isOver: false });
    if (sessions.length > REMEMBERED) sessions.shift();
  }

  async function signOut(session: KnownSession): Promise<void> {
    const status = await ask(session.cookie, (each) => each.post("/sign-out"));
    if (status === 200) {
      counts.signOuts++;
      session.isOver = true;
    } else {
      // The outcome is unknown.
      sessions.splice(sessions.indexOf(session), 1);
    }
  }

  async function check({ cookie, isOver }: KnownSession): Promise<void> {
    const status = await ask(cookie, (each) => each.get("/me"));
    if (status === 0 || status === 503) return;
    counts.checks++;
    if (status !== (isOver ? 401 : 200)) {
      lost.push(isOver ? "a sign-out was undone" : "a session is lost");
    }
  }

  async function useSessions(): Promise<void> {
    while (!stop.signal.aborted) {
      const session = sessions[random.below(sessions.length)];
      const choice = random.below(8);
      if (session === undefined || choice === 0) await signIn();
      else if (choice === 1 && !session.isOver) await signOut(session);
      else await check(session);
      await pause(5);
    }
  }

  async function invalidate(): Promise<void> {
    using admin = kits.visit(0);
    while (!stop.signal.aborted) {
      admin.origin = anyProcess().origin;
      const version = ++kits.origin.version;
      try {
        if ((await admin.rpc.invalidate.mutate()).success) {
          counts.invalidations++;
          acknowledged.push({ version, at: performance.now() });
        }
      } catch {
        // The process was killed.
      }
      await pause(100);
    }
  }

  const running = [useSessions(), invalidate()];
  return {
    counts,
    lost,
    staleAnswers() {
      const stale: string[] = [];
      let i = 0;
      let least = 0;
      for (
        const { asked, at, body } of kits.answers.toSorted((a, b) =>
          a.at - b.at
        )
      ) {
        while (acknowledged[i] && acknowledged[i]!.at < at - STALENESS) {
          least = acknowledged[i++]!.version;
        }
        const [, found] = /^key (\d+)$/.exec(body?.data) ?? [];
        if (asked === "cache" && found !== undefined && Number(found) < least) {
          stale.push(`a value is ${found} after ${least} was acknowledged`);
        }
      }
      return stale;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      visitor[Symbol.dispose]();
    },
  };
}
