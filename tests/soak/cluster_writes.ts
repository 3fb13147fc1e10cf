/**
 * Writes of the soak that several processes have acknowledged, and whether all
 * processes still know of them: sessions, and invalidations of the cache.
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

/** Writes, one after the other. Ends with the block that it was started in. */
export interface ClusterWrites extends AsyncDisposable {
  /** How many were acknowledged. */
  readonly counts: {
    signIns: number;
    signOuts: number;
    invalidations: number;
    /** Looks at sessions. */
    checks: number;
  };
  /** Acknowledged writes that processes have lost. */
  readonly lost: string[];
  /**
   * Returns the answers with a value that was invalidated too long before they
   * were asked for.
   */
  staleAnswers(): string[];
}

/** Sessions that are remembered. */
const REMEMBERED = 300;
/**
 * How old a value may be, in milliseconds: as long as a process that is cut off
 * trusts its memory, and some time for a busy machine.
 */
const STALENESS = MAX_STALENESS * 1_000 + 2_000;

/** Begins to write. */
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

  /** Asks some process, as the owner of a session. */
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
    } // Nobody knows whether it was done.
    else sessions.splice(sessions.indexOf(session), 1);
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
