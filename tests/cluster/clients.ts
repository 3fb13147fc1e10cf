/**
 * The Redis clients that the kit supports, for any deployment.
 *
 * @module
 */

import { Cluster, Redis } from "ioredis";
import * as redis6 from "redis";
import * as redis5 from "redis5";
import type { RedisPlace } from "./redis_topology.ts";

export const CLIENTS = ["redis 6", "redis 5", "ioredis"] as const;

export type ClientName = typeof CLIENTS[number];

/**
 * Returns the tests that a client runs in a deployment of Redis: a third of them,
 * so that together the clients run all. With `FULL=1`, each client runs all.
 *
 * @param turn The number of the deployment. Each has other thirds.
 */
export function shareOf<T>(
  tests: readonly T[],
  client: ClientName,
  turn: number,
): readonly T[] {
  const first = CLIENTS.indexOf(client) + turn;
  return Deno.env.get("FULL") === "1"
    ? tests
    : tests.filter((_, i) => (i + first) % CLIENTS.length === 0);
}

/** A client as users create it. The test that created it closes it. */
export interface TestClient extends AsyncDisposable {
  /** The value that users pass as `client`. */
  readonly client: RedisClientOfUsers;
  /** The errors that the client has emitted. */
  readonly errors: readonly unknown[];
  /** Opens the client's own connection, which the kit never needs. */
  connect(): Promise<void>;
}

/** Any of the clients. */
export type RedisClientOfUsers =
  | ReturnType<typeof redis6.createClient>
  | ReturnType<typeof redis6.createSentinel>
  | ReturnType<typeof redis6.createCluster>
  | ReturnType<typeof redis5.createClient>
  | ReturnType<typeof redis5.createSentinel>
  | ReturnType<typeof redis5.createCluster>
  | Redis
  | Cluster;

/** Creates a client. It isn't connected. */
export function makeClient(name: ClientName, place: RedisPlace): TestClient {
  const client = name === "ioredis"
    ? makeIoredis(place)
    : makeNodeRedis(name === "redis 6" ? redis6 : redis5 as never, place);
  const errors: unknown[] = [];
  (client as Redis).on("error", (error) => errors.push(error));
  let isConnected = false;
  return {
    client,
    errors,
    async connect() {
      await client.connect();
      isConnected = true;
    },
    [Symbol.asyncDispose]() {
      if (isConnected) {
        if ("destroy" in client) client.destroy();
        else (client as Redis).disconnect();
      }
      return Promise.resolve();
    },
  };
}

function makeNodeRedis(
  { createClient, createSentinel, createCluster }: typeof redis6,
  place: RedisPlace,
): RedisClientOfUsers {
  if ("url" in place) return createClient({ url: place.url });
  if ("nodes" in place) {
    const rootNodes = place.nodes.map(({ host, port }) => ({
      url: `redis://${host}:${port}`,
    }));
    return createCluster({ rootNodes });
  }
  const { name, sentinels } = place;
  return createSentinel({ name, sentinelRootNodes: [...sentinels] });
}

function makeIoredis(place: RedisPlace): Redis | Cluster {
  const lazyConnect = true;
  if ("url" in place) return new Redis(place.url, { lazyConnect });
  if ("nodes" in place) return new Cluster([...place.nodes], { lazyConnect });
  const { name, sentinels } = place;
  return new Redis({ name, sentinels: [...sentinels], lazyConnect });
}
