/**
 * Connections from clients of `npm:redis`.
 *
 * @module
 */

import type {
  ClientKind,
  OnError,
  RedisClient,
  RedisConnection,
} from "./client.ts";

/** The part of `npm:redis` clients that the kit uses. */
interface NodeRedis extends Omit<RedisClient, "on"> {
  on(event: "error", listener: OnError): unknown;
  readonly options?: { readonly socket?: object };
  duplicate?(options?: Record<string, unknown>): NodeRedis;
  destroy(): void | Promise<void>;
  sendCommand(...args: unknown[]): Promise<unknown>;
  readonly subscribe: RedisConnection["subscribe"];
  /** In Sentinel and cluster clients: the client without settings of commands. */
  _self?: object;
  /** In a Sentinel client: runs a function with the master's client. */
  _execute?<T>(
    isReadonly: boolean,
    fn: (master: NodeRedis) => Promise<T>,
  ): Promise<T>;
}

type NodeRedisKind = Exclude<ClientKind, "ioredis">;

/** Creates a connection with the settings of a client of `npm:redis`. */
export function connectNodeRedis(
  client: RedisClient,
  kind: NodeRedisKind,
  onError: OnError,
): RedisConnection {
  const sockets = new AbortController();
  const { signal } = sockets;
  let copy: NodeRedis | undefined;
  return {
    async connect() {
      const created = await duplicate(client as NodeRedis, kind, signal);
      if (signal.aborted) return;
      copy = created;
      copy.on("error", onError);
      await copy.connect();
    },
    send: (args, key) =>
      copy!.sendCommand(...routeOf(kind, key), args, RAW_REPLIES),
    subscribe: (channel, onMessage) => copy!.subscribe(channel, onMessage),
    close() {
      destroy(copy);
      sockets.abort();
    },
  };
}

/** Returns the arguments before a command: its key, and whether it only reads. */
function routeOf(kind: NodeRedisKind, key: string): unknown[] {
  return kind === "cluster" ? [key, false] : kind === "sentinel" ? [false] : [];
}

/** Options of a command. The client may map types of replies to others. */
const RAW_REPLIES = { typeMapping: {} };

/** Commands aren't repeated, and go to the master. */
const SENTINEL = {
  maxCommandRediscovers: 0,
  passthroughClientErrorEvents: true,
  masterPoolSize: 1,
  replicaPoolSize: 0,
  reserveClient: false,
};

/** Returns a client with the settings of another one, for one connection. */
async function duplicate(
  client: NodeRedis,
  kind: NodeRedisKind,
  signal: AbortSignal,
): Promise<NodeRedis> {
  switch (kind) {
    case "single":
      return client.duplicate!(ofConnection(client.options, signal));
    case "sentinel":
      return client.duplicate!({
        ...SENTINEL,
        ...ofClients(client, signal, [
          "nodeClientOptions",
          "sentinelClientOptions",
        ]),
      });
    case "sentinel5": {
      const master = await client._execute!(
        false,
        (master) => Promise.resolve(master),
      );
      return await duplicate(master, "single", signal);
    }
    case "cluster":
      return client.duplicate!({
        minimizeConnections: true,
        useReplicas: false,
        ...ofClients(client, signal, ["defaults"]),
      });
  }
}

/** Settings of a client of `npm:redis`. */
interface Settings {
  readonly socket?: object | undefined;
}

/**
 * Returns the settings that make one connection, which isn't reopened. Aborting the
 * signal closes its socket in any state, because a client that is closed while it
 * connects forgets its socket. The queue is unlimited: a full one would look like a
 * lost connection.
 */
function ofConnection(settings: Settings | undefined, signal: AbortSignal) {
  return {
    commandsQueueMaxLength: undefined,
    socket: { ...settings?.socket, reconnectStrategy: false, signal },
  };
}

/**
 * Returns the same for the clients inside a Sentinel or cluster client.
 *
 * @param names The options that hold their settings.
 */
function ofClients(
  client: NodeRedis,
  signal: AbortSignal,
  names: readonly string[],
): Record<string, Settings> {
  let options: Record<string, Settings | undefined> = {};
  // A copy calls the constructor of its prototype. This one only reads settings.
  const probe = Object.create({
    constructor: function (given: typeof options) {
      options = given;
    },
  }, { _self: { value: client._self } });
  try {
    client.duplicate!.call(probe);
  } catch {
    // Another version, where a server that went away costs a timer.
    return {};
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...options[name], ...ofConnection(options[name], signal) },
    ]),
  );
}

async function destroy(copy: NodeRedis | undefined): Promise<void> {
  try {
    await copy?.destroy();
  } catch {
    // Clients of version 5 throw if the connection is closed already.
  }
}
