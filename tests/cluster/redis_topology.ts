/**
 * Several Redis servers that work together: a master with a replica, the same
 * with three sentinels, and a cluster of three masters.
 *
 * @module
 */

import { freePort } from "../helpers.ts";
import {
  type RedisServer,
  startRedis,
  startSentinel,
} from "../redis_server.ts";

/** The servers that a client connects to. */
export type RedisPlace =
  | { readonly url: string }
  | {
    readonly name: string;
    readonly sentinels: readonly Address[];
  }
  | { readonly nodes: readonly Address[] };

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Settings of a server that has written to disk whatever it confirmed. */
export const DURABLE: readonly string[] = [
  "--appendonly",
  "yes",
  "--appendfsync",
  "always",
];

/** A master and its replica. */
export interface ReplicatedRedis extends AsyncDisposable {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /**
   * Swaps master and replica without losing acknowledged writes. `master` and
   * `replica` change.
   */
  switch(): Promise<void>;
}

/** A master and its replica with three sentinels. */
export interface SentinelRedis extends AsyncDisposable {
  readonly place: RedisPlace;
  readonly sentinels: readonly RedisServer[];
  readonly nodes: readonly RedisServer[];
  /** Returns the current master according to the sentinels. */
  master(): Promise<RedisServer>;
  /** Resolves once the sentinels are able to replace the master. */
  settled(): Promise<void>;
}

/** A cluster of three masters, with or without replicas. */
export interface RedisCluster extends AsyncDisposable {
  readonly place: RedisPlace;
  /** All nodes. The first three are the original masters. */
  readonly nodes: readonly RedisServer[];
  /** Returns the current master of a key's slot. */
  masterOf(key: string): Promise<RedisServer>;
  /** Returns a replica of a key's master. */
  replicaOf(key: string): Promise<RedisServer>;
}

/** The first and last slot, then host and port of the master and the others. */
type SlotRange = [number, number, ...[string, number][]];

const host = "127.0.0.1";
/** By default, a replica is ready after five seconds, and known after ten. */
const QUICK = [
  "--repl-diskless-sync-delay",
  "0",
  "--repl-ping-replica-period",
  "1",
];

/** Time that Redis tries to elect a replica on request, in milliseconds. */
const ELECTION = 5_000;

/** Starts a master and its replica. */
export async function startReplicated(
  settings: readonly string[] = [],
): Promise<ReplicatedRedis> {
  await using stack = new AsyncDisposableStack();
  let master = stack.use(await startRedis([...QUICK, ...settings]));
  let replica = stack.use(await startRedis([...QUICK, ...settings]));
  await replica.send("REPLICAOF", host, `${master.port}`);
  await inSync(replica);
  const servers = stack.move();
  return {
    get master() {
      return master;
    },
    get replica() {
      return replica;
    },
    async switch() {
      await inSync(replica);
      await master.send("FAILOVER", "TO", host, `${replica.port}`);
      await eventually("the replica is the master", async () => {
        const [role] = await replica.send("ROLE") as [string];
        return role === "master";
      });
      [master, replica] = [replica, master];
      await inSync(replica);
    },
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

/** Starts a master, its replica and three sentinels with short timeouts. */
export async function startSentinels(
  settings: readonly string[] = [],
): Promise<SentinelRedis> {
  await using stack = new AsyncDisposableStack();
  const { master: first, replica } = stack.use(await startReplicated(settings));
  const nodes = [first, replica];
  const name = "main";
  const sentinels = await Promise.all([1, 2, 3].map(() =>
    startSentinel([
      `sentinel monitor ${name} ${host} ${first.port} 2`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 3000`,
    ])
  ));
  for (const sentinel of sentinels) stack.use(sentinel);
  for (const sentinel of sentinels) {
    // By default, sentinels check every ten seconds.
    await sentinel.send(
      ..."SENTINEL DEBUG INFO-PERIOD 100 PUBLISH-PERIOD 100".split(" "),
    );
  }

  async function master(): Promise<RedisServer> {
    const ports = await Promise.all(sentinels.map(async (sentinel) => {
      const address = await sentinel.send(
        ..."SENTINEL GET-MASTER-ADDR-BY-NAME".split(" "),
        name,
      );
      return (address as [string, string])[1];
    }));
    const node = nodes.find(({ port }) =>
      ports.every((at) => at === `${port}`)
    );
    if (node === undefined) throw new Error(`They don't agree: ${ports}`);
    return node;
  }

  async function settled(): Promise<void> {
    await eventually(
      "the sentinels know each other and the replica",
      async () => {
        for (const sentinel of sentinels) {
          const fields = await sentinel.send("SENTINEL", "MASTER", name);
          const of = pairsOf(fields as string[]);
          if (of["num-other-sentinels"] !== "2" || of["flags"] !== "master") {
            return false;
          }
          const replicas = await sentinel.send("SENTINEL", "REPLICAS", name);
          const states = (replicas as string[][]).map(pairsOf);
          const isReady = states.some((state) =>
            state["flags"] === "slave" && state["master-link-status"] === "ok"
          );
          if (!isReady) return false;
        }
        return await master() !== undefined;
      },
    );
  }

  await settled();
  const servers = stack.move();
  return {
    place: { name, sentinels: sentinels.map(({ port }) => ({ host, port })) },
    sentinels,
    nodes,
    master,
    settled,
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

/** Starts a node of a cluster. Another process may take a free port first. */
async function startNode(
  tries = 5,
): Promise<{ node: RedisServer; bus: number }> {
  const bus = freePort();
  try {
    const node = await startRedis([
      ...["--cluster-enabled", "yes", "--cluster-port", `${bus}`],
      ...["--cluster-node-timeout", "1000", ...QUICK],
    ]);
    return { node, bus };
  } catch (error) {
    const isTaken = /Address already in use/.test((error as Error).message);
    if (!isTaken || tries === 1) throw error;
    return await startNode(tries - 1);
  }
}

/**
 * Starts a cluster.
 *
 * @param replicas Whether each master has a replica. Default: `false`.
 */
export async function startCluster(
  { replicas = false }: { readonly replicas?: boolean } = {},
): Promise<RedisCluster> {
  await using stack = new AsyncDisposableStack();
  const nodes: RedisServer[] = [];
  const buses: number[] = [];
  for (let i = 0; i < (replicas ? 6 : 3); i++) {
    const { node, bus } = await startNode();
    nodes.push(stack.use(node));
    buses.push(bus);
  }
  const [first, ...others] = nodes as [RedisServer, ...RedisServer[]];
  for (const [i, { port }] of others.entries()) {
    await first.send("CLUSTER", "MEET", host, `${port}`, `${buses[i + 1]}`);
  }
  for (let i = 0; i < 3; i++) {
    const [from, to] = [
      Math.ceil(i * 16384 / 3),
      Math.ceil((i + 1) * 16384 / 3) - 1,
    ];
    await nodes[i]!.send("CLUSTER", "ADDSLOTSRANGE", `${from}`, `${to}`);
  }
  await eventually("the nodes know each other", async () => {
    for (const node of nodes) {
      const known = await node.send("CLUSTER", "NODES") as string;
      if (known.trim().split("\n").length < nodes.length) return false;
      if (known.includes("handshake")) return false;
    }
    return true;
  });
  for (const [i, replica] of nodes.slice(3).entries()) {
    const id = await nodes[i]!.send("CLUSTER", "MYID") as string;
    await replica.send("CLUSTER", "REPLICATE", id);
    await inSync(replica);
  }
  await eventually("the cluster is complete", async () => {
    for (const node of nodes) {
      const info = await node.send("CLUSTER", "INFO") as string;
      if (!info.includes("cluster_state:ok")) return false;
      const slots = await node.send("CLUSTER", "SLOTS") as SlotRange[];
      const owners = slots.flatMap(([, , ...owners]) => owners);
      if (owners.length < nodes.length) return false;
    }
    return true;
  });

  /** Returns the nodes of a key's slot, the master first. */
  async function nodesOf(key: string): Promise<RedisServer[]> {
    const errors: unknown[] = [];
    for (const node of nodes) {
      try {
        const slot = await node.send("CLUSTER", "KEYSLOT", key) as number;
        const slots = await node.send("CLUSTER", "SLOTS") as SlotRange[];
        const [, , ...owners] = slots.find(([from, to]) =>
          from <= slot && slot <= to
        )!;
        return owners.map(([, port]) =>
          nodes.find((each) => each.port === port)!
        );
      } catch (error) {
        errors.push(error);
      }
    }
    throw new AggregateError(errors, "No node of the cluster answers");
  }

  const servers = stack.move();
  return {
    place: { nodes: nodes.map(({ port }) => ({ host, port })) },
    nodes,
    masterOf: async (key) => (await nodesOf(key))[0]!,
    replicaOf: async (key) => (await nodesOf(key))[1]!,
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

/**
 * Makes a replica of a cluster the master. An election can fail and isn't
 * repeated by the server, so this requests it again.
 */
export async function promote(replica: RedisServer): Promise<void> {
  let asked = -Infinity;
  await eventually("the replica is the master", async () => {
    const [role] = await replica.send("ROLE") as [string];
    if (role === "master") return true;
    if (performance.now() > asked + ELECTION) {
      asked = performance.now();
      await replica.send("CLUSTER", "FAILOVER");
    }
    return false;
  });
}

/** Waits until a replica has all the data of its master. */
export async function inSync(replica: RedisServer): Promise<void> {
  await eventually("the replica is in sync", async () => {
    const info = await replica.send("INFO", "replication") as string;
    return info.includes("role:slave") &&
      info.includes("master_link_status:up");
  });
}

/**
 * Waits until a condition holds. Errors count as not yet.
 *
 * @param limit The timeout in milliseconds. Default: a minute.
 */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limit = 60_000,
): Promise<void> {
  const end = performance.now() + limit;
  let last: unknown;
  for (;;) {
    try {
      if (await holds()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`It took over ${limit} ms until ${what}`, {
        cause: last,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function pairsOf(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    list.flatMap((name, i) => i % 2 === 0 ? [[name, list[i + 1]!]] : []),
  );
}
