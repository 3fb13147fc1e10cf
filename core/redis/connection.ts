/**
 * One connection, whatever client it is made of.
 *
 * A client would reconnect by itself and send commands again that may have been
 * executed. So a connection is closed at its first failure, and never reopened.
 *
 * @module
 */

import { kindOfClient, type RedisClient } from "./client.ts";
import { withoutArguments } from "./replies.ts";

/** A connection of the kit's own. */
export interface RedisConnection {
  /** Opens it. */
  connect(): Promise<unknown>;
  /**
   * Sends a command. Replies have the shapes of RESP2.
   *
   * @param key A key on the shard that the command is for.
   */
  send(args: readonly string[], key: string): Promise<unknown>;
  /** Subscribes to a channel. */
  subscribe(
    channel: string,
    onMessage: (message: string) => void,
  ): Promise<unknown>;
  /** Closes it at once, in any state. */
  close(): void;
}

type Args = readonly string[];
type OnMessage = (message: string) => void;
type OnError = (error: Error) => void;

/** The used part of clients of `npm:redis`. */
interface NodeRedis extends Omit<RedisClient, "on"> {
  on(event: "error", listener: OnError): unknown;
  on(event: "connect", listener: () => void): unknown;
  readonly options?: { readonly socket?: object };
  duplicate?(options?: Record<string, unknown>): NodeRedis;
  destroy(): void | Promise<void>;
  // deno-lint-ignore no-explicit-any -- each kind has other parameters
  sendCommand(...args: any[]): Promise<unknown>;
  subscribe(channel: string, onMessage: OnMessage): Promise<unknown>;
  /** Of Sentinel and cluster clients: itself, without settings of commands. */
  _self?: object;
  /** Of a Sentinel client: runs a function with the master's client. */
  _execute?<T>(
    isReadonly: boolean,
    fn: (master: NodeRedis) => Promise<T>,
  ): Promise<T>;
}

/** The used part of clients of `npm:ioredis`. */
interface IoRedis extends Omit<RedisClient, "on"> {
  duplicate(...options: unknown[]): IoRedis;
  disconnect(): void;
  call(...args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  on(
    event: "error" | "end" | "message",
    // deno-lint-ignore no-explicit-any -- each event has other parameters
    listener: (...args: any[]) => void,
  ): unknown;
}

/**
 * Creates a connection with the settings of a client.
 *
 * @param onError Called when it fails, also after it was closed.
 */
export function createConnection(
  client: RedisClient,
  onError: OnError,
): RedisConnection {
  const connection = copyOf(client, onError);
  return {
    ...connection,
    async send(args, key) {
      try {
        return await connection.send(args, key);
      } catch (error) {
        throw withoutArguments(error as Error);
      }
    },
  };
}

function copyOf(client: RedisClient, onError: OnError): RedisConnection {
  const nodeRedis = client as NodeRedis;
  const ioRedis = client as unknown as IoRedis;
  switch (kindOfClient(client)!) {
    case "single":
      return ofNodeRedis(
        nodeRedis.duplicate!({
          ...WITHOUT_LIMIT,
          socket: { ...nodeRedis.options?.socket, reconnectStrategy: false },
        }),
        onError,
        sendAlone,
      );
    case "sentinel":
      return ofNodeRedis(
        nodeRedis.duplicate!({
          ...SENTINEL,
          ...withoutRetries(nodeRedis, "nodeClientOptions"),
        }),
        onError,
        (copy, args) => copy.sendCommand(false, args, AS_THEY_COME),
      );
    case "sentinel5":
      return ofMaster(nodeRedis, onError);
    case "cluster":
      return ofNodeRedis(
        nodeRedis.duplicate!({
          minimizeConnections: true,
          useReplicas: false,
          ...withoutRetries(nodeRedis, "defaults"),
        }),
        onError,
        (copy, args, key) => copy.sendCommand(key, false, args, AS_THEY_COME),
      );
    case "ioredis":
      return ofIoRedis(ioRedis.duplicate(IOREDIS), onError);
    case "ioredis cluster":
      return ofIoRedis(ioRedis.duplicate([], IOREDIS_CLUSTER), onError);
  }
}

/** Options of a command. The client may map types of replies to others. */
const AS_THEY_COME = { typeMapping: {} };

/** A full queue would look like a lost connection. */
const WITHOUT_LIMIT = { commandsQueueMaxLength: undefined };

/** No command is sent a second time, and all go to the master. */
const SENTINEL = {
  maxCommandRediscovers: 0,
  passthroughClientErrorEvents: true,
  masterPoolSize: 1,
  replicaPoolSize: 0,
  reserveClient: false,
};

/**
 * Settings of a Sentinel or cluster client by which its own clients don't connect
 * again. Left to themselves, they try to reach a server that is gone for ever,
 * also after they were closed.
 *
 * @param name The option that holds the settings of its clients.
 */
function withoutRetries(
  client: NodeRedis,
  name: "nodeClientOptions" | "defaults",
): Record<string, unknown> {
  let options: { [key in typeof name]?: { readonly socket?: object } } = {};
  // A copy is created by the constructor of its prototype. This one only looks.
  const probe = Object.create({
    constructor: function (given: typeof options) {
      options = given;
    },
  }, { _self: { value: client._self } });
  try {
    client.duplicate!.call(probe);
  } catch {
    // Another version. A server that is gone costs a timer then.
    return {};
  }
  const socket = { ...options[name]?.socket, reconnectStrategy: false };
  return { [name]: { ...options[name], ...WITHOUT_LIMIT, socket } };
}

const giveUp = () => null;

const IOREDIS = {
  lazyConnect: true,
  disconnectTimeout: 0,
  protocol: 2,
  stringNumbers: false,
  retryStrategy: giveUp,
  sentinelRetryStrategy: giveUp,
  reconnectOnError: null,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  // Scripts publish on channels whose names the client couldn't prefix.
  keyPrefix: "",
};

const IOREDIS_CLUSTER = {
  lazyConnect: true,
  clusterRetryStrategy: giveUp,
  // 0: a command whose connection broke isn't sent again.
  retryDelayOnFailover: 0,
  scaleReads: "master",
  redisOptions: { protocol: 2, disconnectTimeout: 0, stringNumbers: false },
  keyPrefix: "",
};

function ofNodeRedis(
  copy: NodeRedis,
  onError: OnError,
  send: (copy: NodeRedis, args: Args, key: string) => Promise<unknown>,
): RedisConnection {
  copy.on("error", onError);
  let connected: Promise<unknown> | undefined;
  /** Whether there will be a socket that can't be closed yet. */
  let isOpening = false;
  let isClosed = false;
  copy.on("connect", () => {
    isOpening = false;
    if (isClosed) destroy(copy);
  });
  return {
    connect() {
      isOpening = send === sendAlone;
      return connected = copy.connect().finally(() => isOpening = false);
    },
    send: async (args, key) => withoutMaps(await send(copy, args, key)),
    subscribe: (channel, onMessage) => copy.subscribe(channel, onMessage),
    close() {
      isClosed = true;
      // Otherwise the socket opens all the same, and waits for an answer.
      if (!isOpening) destroy(copy);
      // Version 5 would finish connecting, and stay open.
      connected?.then(() => destroy(copy), () => {});
    },
  };
}

/** Connects to the master that a Sentinel client knows at that time. */
function ofMaster(client: NodeRedis, onError: OnError): RedisConnection {
  let connection: RedisConnection | undefined;
  let isClosed = false;
  return {
    async connect() {
      const copy = await client._execute!(
        false,
        (master) => Promise.resolve(master.duplicate!()),
      );
      if (isClosed) return;
      connection = ofNodeRedis(copy, onError, sendAlone);
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

function ofIoRedis(copy: IoRedis, onError: OnError): RedisConnection {
  copy.on("error", onError);
  copy.on("end", () => onError(new Error("The connection was closed")));
  return {
    connect: () => copy.connect(),
    send: async (args) => withoutMaps(await copy.call(...args)),
    subscribe(channel, onMessage) {
      copy.on("message", (from: string, message: string) => {
        if (from === channel) onMessage(message);
      });
      return copy.subscribe(channel);
    },
    close: () => copy.disconnect(),
  };
}

function withoutMaps(reply: unknown): unknown {
  if (typeof reply !== "object" || reply === null || Array.isArray(reply)) {
    return reply;
  }
  return reply instanceof Map ? [...reply] : Object.entries(reply);
}
