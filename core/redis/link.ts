import { createStoreLink, type StoreLinkOptions } from "../store_link.ts";
import type { RedisClient, RedisConnection } from "./client.ts";
import { createConnection } from "./connection.ts";
import { isConnectionLost, isTemporary } from "./replies.ts";
import type { RedisScript } from "./script.ts";

/** Sends commands and scripts. */
export interface RedisCommands {
  /**
   * Sends a command.
   *
   * @param key A key on the shard to use. Default: the link's.
   */
  send(args: readonly string[], key?: string): Promise<unknown>;
  /** Runs a script. Its keys are all on one shard. */
  run(
    script: RedisScript,
    keys: readonly [string, ...string[]],
    args?: readonly string[],
  ): Promise<unknown>;
}

/** Options of {@linkcode createRedisLink}. */
export interface RedisLinkOptions extends
  Pick<
    StoreLinkOptions<RedisCommands>,
    "what" | "timeout" | "onError" | "onLost"
  > {
  /** The client whose settings the connections use. */
  readonly client: RedisClient;
  /** A key on the shard to use. */
  readonly key: string;
  /** A channel to listen to, over a separate connection. */
  readonly listen?: RedisSubscription;
  /** Called with each new connection, before other code may use it. */
  readonly onConnect?: (commands: RedisCommands) => Promise<void>;
}

/** A channel to listen to. */
interface RedisSubscription {
  readonly channel: string;
  readonly onMessage: (message: string) => void;
}

/** Connections to Redis that reopen by themselves. */
export type RedisLink = ReturnType<typeof createRedisLink>;

/**
 * Creates a connection to Redis that opens at its first use, and reopens by
 * itself. See {@linkcode createStoreLink}.
 *
 * With `listen` there is a second connection, for messages. If one is lost, both
 * are replaced, so silence means that nothing was published. The health check
 * publishes a message on one, which must arrive at the other.
 */
export function createRedisLink(options: RedisLinkOptions) {
  const { client, key, onConnect } = options;
  const listening = options.listen && createListening(options.listen);

  function connect(lose: (error: Error) => void) {
    const connection = createConnection(client, lose);
    const listener = listening && createConnection(client, lose);
    const commands: RedisCommands = {
      send: (args, shard = key) => connection.send(args, shard),
      run: (script, keys, args = []) => run(connection, script, keys, args),
    };
    const open = async () => {
      await Promise.all([
        connection.connect(),
        listener && listening.open(listener),
      ]);
      // Fetches messages from before it listened.
      await onConnect?.(commands);
      return commands;
    };
    return {
      ready: open(),
      close() {
        connection.close();
        listener?.close();
      },
    };
  }

  const link = createStoreLink<RedisCommands>({
    ...options,
    server: "Redis",
    connect,
    async beat(commands) {
      // A write without effect: a former master refuses it, but still answers
      // reads.
      const write = commands.send(["DEL", unusedKey(key)]);
      await Promise.all([write, listening?.beat(commands)]);
    },
    isLost: isConnectionLost,
    isTemporary,
  });
  const commands: RedisCommands = {
    send: (...args) => link.use((commands) => commands.send(...args)),
    run: (...args) => link.use((commands) => commands.run(...args)),
  };
  return Object.assign(link, commands);
}

/** Returns a key on the same shard, which never exists. */
function unusedKey(key: string): string {
  const open = key.indexOf("{");
  const hasTag = open !== -1 && key.indexOf("}", open) > open + 1;
  return hasTag ? `${key}:beat` : `{${key}}:beat`;
}

async function run(
  connection: RedisConnection,
  { sha, text }: RedisScript,
  keys: readonly [string, ...string[]],
  args: readonly string[],
): Promise<unknown> {
  const rest = [`${keys.length}`, ...keys, ...args];
  try {
    return await connection.send(["EVALSHA", sha, ...rest], keys[0]);
  } catch (error) {
    // After a restart or a failover, the server doesn't know the script.
    if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
    return await connection.send(["EVAL", text, ...rest], keys[0]);
  }
}

/**
 * Listens to a channel, and checks that messages arrive by publishing some to
 * itself.
 */
export function createListening({ channel, onMessage }: RedisSubscription) {
  const own = `${channel}:${crypto.randomUUID()}`;
  const waiting: (() => void)[] = [];

  return {
    /** Opens a connection that listens. */
    async open(connection: RedisConnection): Promise<void> {
      await connection.connect();
      await connection.subscribe(own, () => {
        for (const resolve of waiting.splice(0)) resolve();
      });
      await connection.subscribe(channel, onMessage);
    },

    /** Publishes a message, and waits until it arrives. */
    async beat(commands: Pick<RedisCommands, "send">): Promise<void> {
      const arrived = new Promise<void>((resolve) => waiting.push(resolve));
      await commands.send(["PUBLISH", own, ""]);
      await arrived;
    },
  };
}
