/**
 * Several processes of the app with one Redis, each behind its own fault proxy.
 * Users continuously send requests of all kinds and record the answers.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { freePort } from "../helpers.ts";
import {
  type CookieSockets,
  useCookieSockets,
} from "../soak/cookie_sockets.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";
import type { KitAppOptions } from "./kit_app.ts";
import {
  type Answer,
  type Follower,
  type KitProcess,
  type Origin,
  startKit,
  startOrigin,
  visit,
  type Visitor,
} from "./kit_process.ts";
import { eventually, type RedisPlace } from "./redis_topology.ts";

/** A process, and its users. */
export interface KitInUse {
  readonly process: KitProcess;
  /** The proxy between the process and Redis, if that is a single server. */
  readonly proxy: FaultProxy;
  /** A client that signs in as `user<n>` at the beginning. */
  readonly user: Visitor;
  /** A client without a session. */
  readonly guest: Visitor;
  /** The guest's subscription. */
  readonly follower: Follower;
}

export type Asked = "session" | "publish" | "cache" | "limit";

/** Statuses by the kind of a request. */
export type Statuses = Readonly<Partial<Record<Asked, readonly number[]>>>;

/** The answers of a period, from all processes or one. */
export interface During {
  /** The earliest start of a request. */
  readonly from: number;
  /** The latest end of a request. Default: now. */
  readonly until?: number;
  readonly kit?: number;
}

/** A fault that is over. Times are values of `performance.now()`. */
export interface PastFault {
  readonly from: number;
  readonly end: number;
  /**
   * Figures for `show()`. `until` is the time until everything worked again.
   */
  readonly figures: Record<string, unknown>;
}

const KINDS: readonly Asked[] = ["session", "publish", "cache", "limit"];

/** The only statuses while everything works. */
export const ALL_WORK: Statuses = {
  session: [200],
  publish: [200],
  cache: [200],
  limit: [200],
};

/** An answer that a user received while the processes were in use. */
export interface UsedAnswer extends Answer {
  readonly kit: number;
  readonly asked: Asked;
  /** The start of the request, as a value of `performance.now()`. */
  readonly at: number;
  /** The published number. */
  readonly number?: number;
}

/**
 * Prints what a test measured, for the table of failures in the docs, if
 * `SHOW_FIGURES` is set.
 */
export function show(row: string, figures: Record<string, unknown>): void {
  if (Deno.env.has("SHOW_FIGURES")) console.log(row, JSON.stringify(figures));
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Longer than any call may take, in milliseconds. The timeout is 1,000. */
const TOO_LONG = 5_000;

/** Some processes. They're stopped at the end of their block. */
export class SeveralKits implements AsyncDisposable {
  readonly kits: KitInUse[] = [];
  readonly origin: Origin;
  /** All answers so far. */
  answers: UsedAnswer[] = [];
  /** The published numbers that were acknowledged. */
  readonly published = new Set<number>();
  readonly #stack: AsyncDisposableStack;
  readonly #optionsOf: (number: number) => KitAppOptions;
  #sockets: CookieSockets;
  #count = 0;
  #stop = new AbortController();
  #using: Promise<void>[] = [];

  private constructor(
    stack: AsyncDisposableStack,
    origin: Origin,
    optionsOf: (number: number) => KitAppOptions,
  ) {
    this.#stack = stack;
    this.#sockets = stack.use(useCookieSockets());
    this.origin = origin;
    this.#optionsOf = optionsOf;
  }

  /**
   * Starts the processes.
   *
   * @param place The Redis to use. A single server gets proxies in front.
   * @param optionsOf More options of each process.
   */
  static async start(
    place: RedisPlace,
    count = 2,
    optionsOf: (number: number) => Partial<KitAppOptions> = () => ({}),
  ): Promise<SeveralKits> {
    const stack = new AsyncDisposableStack();
    try {
      const origin = stack.use(startOrigin());
      const kits = new SeveralKits(stack, origin, (number) => ({
        place,
        origin: origin.origin,
        ...optionsOf(number),
      }));
      await Promise.all(Array.from({ length: count }, (_, i) => kits.#add(i)));
      await kits.#ready();
      return kits;
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  async #add(number: number): Promise<void> {
    const { place } = this.#optionsOf(number);
    const stack = this.#stack;
    const port = "url" in place ? Number(new URL(place.url).port) : 0;
    const proxy = stack.use(startFaultProxy(port));
    const process = stack.use(await this.#startProcess(number, proxy));
    const user = stack.use(this.visit(number, process));
    const guest = stack.use(this.visit(number, process));
    await eventually(
      "the sign-in works",
      async () =>
        (await user.post("/sign-in", { name: `user${number}` })).status === 200,
    );
    const follower = stack.use(guest.follow());
    this.kits[number] = { process, proxy, user, guest, follower };
  }

  #startProcess(
    number: number,
    proxy: FaultProxy,
    port = freePort(),
  ): Promise<KitProcess> {
    const options = this.#optionsOf(number);
    const place = "url" in options.place ? { url: proxy.url } : options.place;
    return startKit({ ...options, place, port });
  }

  /** Opens another client of a process. */
  visit(number: number, process = this.kits[number]!.process): Visitor {
    return visit(process, this.#sockets, { "x-name": `user${number}` });
  }

  async #ready(): Promise<void> {
    await eventually("all are subscribed", async () => {
      for (const { guest } of this.kits) {
        if ((await guest.figures()).subscribers < 1) return false;
      }
      return true;
    });
    await this.works();
  }

  /** Restarts a process that has ended, on its port. */
  async restart(number: number): Promise<void> {
    const kit = this.kits[number]!;
    await kit.process.ended;
    const process = this.#stack.use(
      await this.#startProcess(number, kit.proxy, kit.process.port),
    );
    this.kits[number] = { ...kit, process };
  }

  /** Starts users that send requests of all kinds until `rest()`. */
  use(): void {
    for (const [i] of this.kits.entries()) {
      for (const asked of KINDS) this.#using.push(this.#useOne(i, asked));
    }
  }

  async #useOne(kit: number, asked: Asked): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.ask(kit, asked);
      await pause(50);
    }
  }

  /**
   * Causes a fault while users send requests. Waits until everything works
   * again, and stops the users.
   */
  async outlast(
    fault: () => Promise<unknown>,
    { sessions = true } = {},
  ): Promise<PastFault> {
    this.use();
    await pause(200);
    const from = performance.now();
    await fault();
    const end = performance.now();
    const until = await this.works({ sessions });
    await this.rest();
    return { from, end, figures: { ...this.summary(from), until } };
  }

  async rest(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#using);
    this.#using = [];
    this.#stop = new AbortController();
  }

  /** Sends one request of a kind to a process. */
  async ask(kit: number, asked: Asked): Promise<UsedAnswer> {
    const at = performance.now();
    const answer = await this.#send(this.kits[kit]!, asked);
    const used = { ...answer, kit, asked, at };
    this.answers.push(used);
    return used;
  }

  async #send(
    { user, guest }: KitInUse,
    asked: Asked,
  ): Promise<Answer & { number?: number }> {
    switch (asked) {
      case "session":
        return await user.get("/me");
      case "cache":
        return await guest.get("/api/rpc/read?input=%22key%22");
      case "limit":
        return await guest.get("/api/rpc/limited");
      case "publish": {
        const number = ++this.#count;
        const answer = await guest.post("/api/rpc/publish", number);
        if (answer.status === 200) this.published.add(number);
        return { ...answer, number };
      }
    }
  }

  /**
   * Waits until everything works in all processes, and messages of each arrive
   * at all subscriptions. Returns the time in milliseconds.
   */
  async works({ sessions = true } = {}): Promise<number> {
    const start = performance.now();
    const kinds: Asked[] = ["cache", "limit"];
    if (sessions) kinds.push("session");
    for (const [i] of this.kits.entries()) {
      for (const asked of kinds) {
        await eventually(`${asked} works in process ${i}`, async () => {
          const { status } = await this.ask(i, asked);
          return status === 200 || status === 429;
        });
      }
      await eventually(`messages of process ${i} arrive`, async () => {
        const { status, number } = await this.ask(i, "publish");
        // A message sent before a gap may be lost.
        return status === 200 && await this.#arrives(number!);
      });
    }
    return performance.now() - start;
  }

  /**
   * Waits briefly for a message. Returns whether all subscriptions received it.
   */
  async #arrives(number: number): Promise<boolean> {
    for (let i = 0; i < 50; i++) {
      if (
        // It is among the latest values.
        this.kits.every(({ follower }) =>
          follower.values.lastIndexOf(number) >= 0
        )
      ) return true;
      await pause(10);
    }
    return false;
  }

  /** Returns the distinct statuses of answers, sorted. 429 counts as 200. */
  statuses(asked: Asked, during: During): number[] {
    const statuses = this.#during(during)
      .filter((answer) => answer.asked === asked)
      .map(({ status }) => status === 429 ? 200 : status);
    return [...new Set(statuses)].toSorted();
  }

  /** Checks the statuses of the given kinds of requests. */
  checkStatuses(during: During, expected: Statuses): void {
    for (const [asked, statuses] of Object.entries(expected)) {
      assertEquals(this.statuses(asked as Asked, during), statuses, asked);
    }
  }

  #during({ from, until = Infinity, kit }: During): UsedAnswer[] {
    return this.answers.filter((answer) =>
      answer.at >= from && answer.at + answer.ms < until &&
      (kit === undefined || answer.kit === kit)
    );
  }

  /**
   * Returns the statuses since a time by the kind of request, and the longest
   * duration of an answer.
   */
  summary(start: number): Record<Asked | "longest", unknown> {
    const statuses = (asked: Asked) => {
      const counts: Record<number, number> = {};
      for (const answer of this.#during({ from: start })) {
        if (answer.asked !== asked) continue;
        counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      }
      return counts;
    };
    return {
      session: statuses("session"),
      publish: statuses("publish"),
      cache: statuses("cache"),
      limit: statuses("limit"),
      longest: Math.round(
        Math.max(...this.#during({ from: start }).map(({ ms }) => ms)),
      ),
    };
  }

  /**
   * Stops the users, and checks the rules that hold during every fault.
   *
   * @param gaps Maximum number of gaps that each subscription may report.
   */
  async check({ gaps = 0 } = {}): Promise<void> {
    await this.rest();
    // Messages are ordered, so all earlier ones have arrived by then.
    await this.works({ sessions: false });
    this.checkAnswers();
    this.#checkMessages(gaps);
  }

  /**
   * Checks that no answer took too long, and that each 503 has `Retry-After`.
   */
  checkAnswers(): void {
    for (const { asked, status, ms, headers, body } of this.answers) {
      assert(ms < TOO_LONG, `${asked} took ${ms} ms: ${status}`);
      // A process that is shutting down sends no `Retry-After`.
      if (status !== 503 || body.error?.code === "SHUTTING_DOWN") continue;
      const retryAfter = Number(headers.get("retry-after"));
      assert(retryAfter >= 1, `${asked}: ${JSON.stringify(body)}`);
    }
  }

  /**
   * Checks that all messages arrived once, and in the same order everywhere. A
   * subscription that reported a gap may have missed some.
   */
  #checkMessages(maxGaps: number): void {
    for (const [i, { follower }] of this.kits.entries()) {
      const { values, gaps, errors } = follower;
      assertEquals(errors, []);
      assert(gaps.length <= maxGaps, `there were gaps after ${gaps}`);
      const received = new Set(values);
      assertEquals(values.length, received.size, "one came twice");
      const lost = [...this.published].filter((each) => !received.has(each));
      if (gaps.length === 0) assertEquals(lost, [], "these didn't arrive");
      for (const other of this.kits.slice(0, i)) {
        const others = new Set(other.follower.values);
        assertEquals(
          values.filter((value) => others.has(value)),
          other.follower.values.filter((value) => received.has(value)),
          "the order",
        );
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
    await this.#stack.disposeAsync();
  }
}
