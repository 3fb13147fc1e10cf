/**
 * Faults of the soak's processes and of their Redis. A fault's function
 * resolves when the fault is over.
 *
 * @module
 */

import type { ReplicatedRedis } from "../cluster/redis_topology.ts";
import { pause, type SeveralKits } from "../cluster/several_kits.ts";
import type { SeededRandom } from "../trace/export/random.ts";

/** The processes and servers that faults affect. */
export interface ClusterWorld {
  readonly redis: ReplicatedRedis;
  readonly kits: SeveralKits;
  readonly random: SeededRandom;
}

export interface Fault {
  readonly name: string;
  run(world: ClusterWorld): Promise<void>;
}

export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 of a process",
    async run({ kits, random }) {
      // The first process is never killed: its memory is measured.
      const number = 1 + random.below(kits.kits.length - 1);
      const { user, guest, process } = kits.kits[number]!;
      const other = kits.kits[number - 1]!.process.origin;
      process.kill("SIGKILL");
      await process.ended;
      for (const visitor of [user, guest]) visitor.origin = other;
      await pause(500);
      await kits.restart(number);
      for (const visitor of [user, guest]) visitor.origin = process.origin;
    },
  },
  {
    name: "kill -9 of Redis",
    async run({ redis, random }) {
      await redis.master.crash();
      await pause(random.below(1_500));
      await redis.master.restart();
    },
  },
  {
    name: "SIGSTOP of a process for 2 s",
    async run({ kits, random }) {
      const { process } = kits.kits[random.below(kits.kits.length)]!;
      process.kill("SIGSTOP");
      await pause(2_000);
      process.kill("SIGCONT");
    },
  },
  {
    name: "SIGSTOP of Redis for 3 s",
    async run({ redis }) {
      redis.master.signal("SIGSTOP");
      await pause(3_000);
      redis.master.signal("SIGCONT");
    },
  },
  {
    name: "silent connections of a process",
    async run({ kits, random }) {
      const { proxy } = kits.kits[random.below(kits.kits.length)]!;
      proxy.set("silent");
      await pause(100);
      proxy.set("forward");
    },
  },
  {
    name: "partition of a process for 3 s",
    async run({ kits, random }) {
      const { proxy } = kits.kits[random.below(kits.kits.length)]!;
      proxy.set("black hole");
      await pause(3_000);
      proxy.set("forward");
    },
  },
  {
    name: "failover",
    async run({ redis, kits }) {
      await redis.switch();
      for (const { proxy } of kits.kits) {
        proxy.target = redis.master.port;
        proxy.cut();
      }
    },
  },
  {
    name: "OOM for 2 s",
    async run({ redis: { master } }) {
      await master.send("CONFIG", "SET", "maxmemory", "1");
      await pause(2_000);
      await master.send("CONFIG", "SET", "maxmemory", "0");
    },
  },
];
