/**
 * Connections from clients of `npm:redis`.
 *
 * @module
 */

import type {
  ClientKind,
  OnError,
  OnMessage,
  RedisClient,
  RedisConnection,
} from "./client.ts";

type Args = readonly string[];

/** The part of `npm:redis` clients that the kit uses. */
interface NodeRedis extends Omit<RedisClient, "on"> {
  on(event: "error", listener: OnError): unknown;
  readonly options?: { readonly socket?: object };
  duplicate?(options?: Record<string, unknown>): NodeRedis;
  destroy(): void | Promise<void>;
  sendCommand(...args: unknown[]): Promise<unknown>;
  subscribe(channel: string, onMessage: OnMessage): Promise<unknown>;
  /** In Sentinel and cluster clients: the client without settings of commands. */
  _self?: object;
  /** In a Sentinel client: runs a function with the master's client. */
  _execute?<T>(
    isReadonly: boolean,
    fn: (master: NodeRedis) => Promise<T>,
  ): Promise<T>;
}

/** Creates a connection with the settings of a client of `npm:redis`. */
export function connectNodeRedis(
  client: RedisClient,
  kind: Exclude<ClientKind, `ioredis${string}`>,
  onError: OnError,
): RedisConnection {
  const nodeRedis = client as NodeRedis;
  switch (kind) {
    case "single":
      return ofNodeRedis(
        (signal) => duplicateAlone(nodeRedis, signal),
        onError,
        sendAlone,
      );
    case "sentinel":
      return ofNodeRedis(
        (signal) =>
          nodeRedis.duplicate!({
            ...SENTINEL,
            ...ofClients(nodeRedis, signal, [
              "nodeClientOptions",
              "sentinelClientOptions",
            ]),
          }),
        onError,
        (copy, args) => copy.sendCommand(false, args, AS_THEY_COME),
      );
    case "sentinel5":
      return ofMaster(nodeRedis, onError);
    case "cluster":
      return ofNodeRedis(
        (signal) =>
          nodeRedis.duplicate!({
            minimizeConnections: true,
            useReplicas: false,
            ...ofClients(nodeRedis, signal, ["defaults"]),
          }),
        onError,
        (copy, args, key) => copy.sendCommand(key, false, args, AS_THEY_COME),
      );
  }
}

/** Options of a command. The client may map types of replies to others. */
const AS_THEY_COME = { typeMapping: {} };

/** Commands aren't repeated, and go to the master. */
const SENTINEL = {
  maxCommandRediscovers: 0,
  passthroughClientErrorEvents: true,
  masterPoolSize: 1,
  replicaPoolSize: 0,
  reserveClient: false,
};

/** Settings of a client of `npm:redis`. */
interface Settings {
  readonly socket?: object | undefined;
}

/**
 * Returns the settings of one connection that isn't reopened. Aborting the signal
 * closes its socket in any state, because a client that is closed while it connects
 * forgets its socket. The queue is unlimited: a full one would look like a lost
 * connection.
 */
function ofConnection(settings: Settings | undefined, signal: AbortSignal) {
  return {
    ...settings,
    commandsQueueMaxLength: undefined,
    socket: { ...settings?.socket, reconnectStrategy: false, signal },
  };
}

function duplicateAlone(client: NodeRedis, signal: AbortSignal): NodeRedis {
  const { commandsQueueMaxLength, socket } = ofConnection(
    client.options,
    signal,
  );
  return client.duplicate!({ commandsQueueMaxLength, socket });
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
    names.map((name) => [name, ofConnection(options[name], signal)]),
  );
}

function ofNodeRedis(
  duplicate: (signal: AbortSignal) => NodeRedis,
  onError: OnError,
  send: (copy: NodeRedis, args: Args, key: string) => Promise<unknown>,
): RedisConnection {
  const sockets = new AbortController();
  const copy = duplicate(sockets.signal);
  copy.on("error", onError);
  return {
    connect: () => copy.connect(),
    send: (args, key) => send(copy, args, key),
    subscribe: (channel, onMessage) => copy.subscribe(channel, onMessage),
    close() {
      destroy(copy);
      sockets.abort();
    },
  };
}

/** Connects to the current master of a Sentinel client. */
function ofMaster(client: NodeRedis, onError: OnError): RedisConnection {
  let connection: RedisConnection | undefined;
  let isClosed = false;
  return {
    async connect() {
      const master = await client._execute!(
        false,
        (master) => Promise.resolve(master),
      );
      if (isClosed) return;
      connection = ofNodeRedis(
        (signal) => duplicateAlone(master, signal),
        onError,
        sendAlone,
      );
      await connection.connect();
    },
    send: (args, key) => connection!.send(args, key),
    subscribe: (channel, onMessage) =>
      connection!.subscribe(channel, onMessage),
    close() {
      isClosed = true;
      connection?.close();
    },
  };
}

function sendAlone(copy: NodeRedis, args: Args): Promise<unknown> {
  return copy.sendCommand(args, AS_THEY_COME);
}

async function destroy(copy: NodeRedis): Promise<void> {
  try {
    await copy.destroy();
  } catch {
    // Clients of version 5 throw if the connection is closed already.
  }
}
