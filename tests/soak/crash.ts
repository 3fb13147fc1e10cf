/**
 * Kills the server with `kill -9` in the middle of writes and restarts it. The
 * server must still know all acknowledged writes.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { createClient } from "@quartet/kit/rpc/client";
import type { Api } from "../../examples/atlas/api.ts";
import { makeFolder } from "../dev/dev_command.ts";
import type { Folder } from "../dev/dev_command.ts";
import { SeededRandom } from "../trace/export/random.ts";
import { databaseIn, startAtlas } from "./atlas_process.ts";
import type { AtlasProcess } from "./atlas_process.ts";
import { useCookieSockets } from "./cookie_sockets.ts";
import type { CookieSockets } from "./cookie_sockets.ts";
import { equal, expect, within } from "./expect.ts";
import type { Failures } from "./load.ts";
import { codesOf, createAccounts, personOf, signIn } from "./people.ts";
import type { Person } from "./people.ts";
import { openTraffic } from "./traffic.ts";
import type { Traffic } from "./traffic.ts";
import { CODES, nameOf } from "./world.ts";

/** Result of one crash. */
export interface CrashRound {
  /** Number of writes acknowledged before the crash. */
  readonly acknowledged: number;
  /** Number of writes in flight, whose outcome is unknown. */
  readonly inFlight: number;
  /** Number of writes in flight that took effect. */
  readonly applied: number;
}

/** Number of concurrent writers, each with their own account. */
const WRITERS = 6;
/** Maximum time that a client waits, in milliseconds. */
const LIMIT = 60_000;

/** A user who writes. */
interface Writer extends Person {
  /** Unacknowledged writes: by code, whether it should become a favourite. */
  readonly inFlight: Map<string, boolean>;
  /** Open while the server knows their session. */
  readonly signedIn: Gate;
}

/** Blocks waiters while it is closed. */
interface Gate {
  readonly opened: Promise<void>;
  open(): void;
  close(): void;
}

/** A subscriber, and the codes it received last. */
interface Watcher {
  /** Resolves when the codes received last equal these. */
  sees(codes: readonly string[]): Promise<void>;
  stop(): void;
}

/** Kills the server repeatedly, with one database. */
export async function crashAtlas(
  { seed, crashes }: { seed: number; crashes: number },
  failures: Failures,
): Promise<CrashRound[]> {
  if (crashes === 0) return [];
  await using folder = await makeFolder();
  using sockets = useCookieSockets();
  using traffic = openTraffic();
  const random = new SeededRandom(seed);
  const rounds: CrashRound[] = [];
  const names = Array.from({ length: WRITERS }, (_, i) => nameOf(i));
  await createAccounts(databaseIn(folder), names);
  let atlas = await startAtlas(folder);
  const watchers: Watcher[] = [];
  try {
    const writers = names.map((name): Writer => ({
      ...personOf(name, atlas.origin, traffic.send),
      inFlight: new Map(),
      signedIn: createGate(),
    }));
    for (const writer of writers) await signIn(writer);
    watchers.push(...writers.map((writer) => watch(writer, atlas, sockets)));
    await allSee(watchers, writers);

    while (rounds.length < crashes) {
      const limit = 5 + random.below(100);
      const acknowledged = await writeUntil(limit, writers, random, atlas);
      const inFlight = sum(writers, ({ inFlight }) => inFlight.size);
      equal(atlas.complaints, "", "complaints");
      atlas = await startAtlas(folder, atlas.port);
      const applied = await checkAfterCrash(writers, traffic, atlas, folder);
      await allSee(watchers, writers);
      rounds.push({ acknowledged, inFlight, applied });
    }
  } catch (error) {
    const { message } = error as Error;
    const { complaints } = atlas;
    failures.set(`crash ${rounds.length + 1}: ${message} ${complaints}`, 1);
  } finally {
    for (const { stop } of watchers) stop();
    await atlas[Symbol.asyncDispose]();
  }
  return rounds;
}

/**
 * Runs all writers. Kills the server some iterations of the event loop after a
 * number of acknowledged writes, so at a random point.
 */
async function writeUntil(
  limit: number,
  writers: readonly Writer[],
  random: SeededRandom,
  atlas: AtlasProcess,
): Promise<number> {
  let acknowledged = 0;
  let isOver = false;
  const enough = Promise.withResolvers<void>();

  async function write(
    { visitor: { rpc }, favourites, inFlight }: Writer,
    code: string,
  ): Promise<void> {
    const isFavourite = !favourites.has(code);
    inFlight.set(code, isFavourite);
    const { add, remove } = rpc.favourites;
    try {
      await (isFavourite ? add : remove).mutate({ code });
    } catch (error) {
      // The server is only killed later, so this is a real failure.
      if (!isOver) throw error;
      return;
    }
    inFlight.delete(code);
    if (isFavourite) favourites.add(code);
    else favourites.delete(code);
    if (++acknowledged === limit) enough.resolve();
  }

  const crash = enough.promise.then(async () => {
    for (let turns = random.below(10); turns > 0; turns--) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    isOver = true;
    for (const { signedIn } of writers) signedIn.close();
    await atlas.crash();
  });
  await Promise.all(
    writers.map(async (writer) => {
      while (!isOver) {
        // Several concurrent writes of one user, as from several tabs.
        const codes = new Set([0, 1, 2].map(() => random.pick(CODES)));
        await Promise.all([...codes].map((code) => write(writer, code)));
      }
    }),
  );
  await crash;
  return acknowledged;
}

/**
 * Checks the state of a restarted server, and resolves the writes whose outcome
 * was unknown.
 *
 * @returns The number of those that had taken effect.
 */
async function checkAfterCrash(
  writers: readonly Writer[],
  { send }: Traffic,
  { origin }: AtlasProcess,
  folder: Folder,
): Promise<number> {
  let applied = 0;
  for (const writer of writers) {
    const { name, visitor, favourites, inFlight, signedIn } = writer;
    // Atlas keeps sessions in memory, so the crash ended them. An old cookie
    // must be harmless: anonymous, without an error.
    const old = await send(`${origin}/account`, {
      headers: { cookie: visitor.cookie },
    });
    expect(old.status, 401, "the cookie of a session that the crash has ended");
    await signIn(writer);
    signedIn.open();
    expect((await visitor.open("/account")).status, 200, "account");

    const found = new Set(codesOf(await visitor.rpc.favourites.list.query()));
    for (const [code, isFavourite] of inFlight) {
      if (found.has(code) === isFavourite) applied++;
      if (found.has(code)) favourites.add(code);
      else favourites.delete(code);
    }
    inFlight.clear();
    equal([...found].sort(), [...favourites].sort(), `favourites of ${name}`);
  }
  checkDatabase(folder);
  return applied;
}

function checkDatabase(folder: Folder): void {
  const database = new DatabaseSync(databaseIn(folder), { readOnly: true });
  try {
    const ask = (pragma: string) => database.prepare(`PRAGMA ${pragma}`).all();
    equal(
      ask("integrity_check"),
      [{ integrity_check: "ok" }],
      "integrity of the database",
    );
    equal(ask("foreign_key_check"), [], "references in the database");
    const [row] = database.prepare("SELECT count(*) AS n FROM country").all();
    equal(row, { n: CODES.length }, "countries in the database");
  } finally {
    database.close();
  }
}

/**
 * Subscribes once. After each crash the client reconnects by itself, with the
 * cookie of the user's latest session.
 */
function watch(
  { visitor, signedIn }: Writer,
  { origin }: AtlasProcess,
  sockets: CookieSockets,
): Watcher {
  let seen: string | undefined;
  let failure: unknown;
  let wake = () => {};
  const url = `${origin}/api/rpc`;
  const rpc = createClient<Api>({
    httpEndpoint: url,
    async wsEndpoint() {
      await signedIn.opened;
      return sockets.withCookie(url, visitor.cookie);
    },
    reconnect: { delayMs: 20, maxDelayMs: 200 },
  });
  const stop = rpc.favourites.live.subscribe(undefined, {
    onData(list) {
      seen = codesOf(list).join();
      wake();
    },
    onError(error) {
      failure = error;
      wake();
    },
  });
  return {
    async sees(codes) {
      const wanted = codes.toSorted().join();
      while (seen !== wanted) {
        if (failure !== undefined) throw failure;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    stop,
  };
}

async function allSee(
  watchers: readonly Watcher[],
  writers: readonly Writer[],
): Promise<void> {
  await within(
    LIMIT,
    "live favourites that are up to date",
    Promise.all(
      watchers.map((watcher, i) => watcher.sees([...writers[i]!.favourites])),
    ),
  );
}

function createGate(): Gate {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  return {
    get opened() {
      return gate.promise;
    },
    open: () => gate.resolve(),
    close: () => void (gate = Promise.withResolvers()),
  };
}

function sum<T>(list: readonly T[], valueOf: (item: T) => number): number {
  return list.reduce((total, item) => total + valueOf(item), 0);
}
