/**
 * Killing the server in the middle of writes, with `kill -9`, and starting it
 * again: what it has acknowledged it must still know.
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

/** What happened around one crash. */
export interface CrashRound {
  /** Writes that were acknowledged before it. */
  readonly acknowledged: number;
  /** Writes that were under way, of which nobody knows. */
  readonly underWay: number;
  /** Of those, the ones that had been made all the same. */
  readonly made: number;
}

/** Writers side by side, each for somebody else. */
const WRITERS = 6;
/** What a client waits for at most, in milliseconds. */
const LIMIT = 60_000;

/** Somebody who writes. */
interface Writer extends Person {
  /** What was asked for and not acknowledged: whether it is to be there. */
  readonly underWay: Map<string, boolean>;
  /** Open while the server knows their session. */
  readonly signedIn: Gate;
}

/** What others wait at while it is closed. */
interface Gate {
  readonly opened: Promise<void>;
  open(): void;
  close(): void;
}

/** Somebody who looks on, and what they have seen last. */
interface Watcher {
  /** Resolves when the codes that were seen last are these. */
  sees(codes: readonly string[]): Promise<void>;
  stop(): void;
}

/** Kills the server as many times as wanted, on one database. */
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
      underWay: new Map(),
      signedIn: createGate(),
    }));
    for (const writer of writers) await signIn(writer);
    watchers.push(...writers.map((writer) => watch(writer, atlas, sockets)));
    await allSee(watchers, writers);

    while (rounds.length < crashes) {
      const limit = 5 + random.below(100);
      const acknowledged = await writeUntil(limit, writers, random, atlas);
      const underWay = sum(writers, ({ underWay }) => underWay.size);
      equal(atlas.complaints, "", "complaints");
      atlas = await startAtlas(folder, atlas.port);
      const made = await checkAfterCrash(writers, traffic, atlas, folder);
      await allSee(watchers, writers);
      rounds.push({ acknowledged, underWay, made });
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
 * Lets all write, and kills the server some turns of the event loop after so
 * much was acknowledged: when it is at anything.
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
    { visitor: { rpc }, favourites, underWay }: Writer,
    code: string,
  ): Promise<void> {
    const isToBe = !favourites.has(code);
    underWay.set(code, isToBe);
    const { add, remove } = rpc.favourites;
    try {
      await (isToBe ? add : remove).mutate({ code });
    } catch (error) {
      // Before that there is no reason to fail.
      if (!isOver) throw error;
      return;
    }
    underWay.delete(code);
    if (isToBe) favourites.add(code);
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
        // Several of one's own at once, as from several tabs.
        const codes = new Set([0, 1, 2].map(() => random.pick(CODES)));
        await Promise.all([...codes].map((code) => write(writer, code)));
      }
    }),
  );
  await crash;
  return acknowledged;
}

/**
 * Checks what a server knows that was started after a crash, and takes note of
 * what has become of the writes that nobody knew of.
 *
 * @returns How many of those had been made.
 */
async function checkAfterCrash(
  writers: readonly Writer[],
  { send }: Traffic,
  { origin }: AtlasProcess,
  folder: Folder,
): Promise<number> {
  let made = 0;
  for (const writer of writers) {
    const { name, visitor, favourites, underWay, signedIn } = writer;
    // Atlas keeps its sessions in memory, so they end with the process: an old
    // cookie is no error, and opens nothing.
    const old = await send(`${origin}/account`, {
      headers: { cookie: visitor.cookie },
    });
    expect(old.status, 401, "the cookie of a session that the crash has ended");
    await signIn(writer);
    signedIn.open();
    expect((await visitor.open("/account")).status, 200, "account");

    const found = new Set(codesOf(await visitor.rpc.favourites.list.query()));
    for (const [code, isToBe] of underWay) {
      if (found.has(code) === isToBe) made++;
      if (found.has(code)) favourites.add(code);
      else favourites.delete(code);
    }
    underWay.clear();
    equal([...found].sort(), [...favourites].sort(), `favourites of ${name}`);
  }
  checkDatabase(folder);
  return made;
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
 * Subscribes once. After each crash the client comes back by itself, with the
 * cookie of who has signed in again.
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
