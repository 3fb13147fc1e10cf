import { StoreLink, type StoreLinkOptions } from "../store_link.ts";
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

/** Options of a {@linkcode RedisLink}. */
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
  readonly listen?: {
    readonly channel: string;
    readonly onMessage: (message: string) => void;
  };
  /** Called with each new connection, before other code may use it. */
  readonly onConnect?: (commands: RedisCommands) => Promise<void>;
}

/**
 * A connection to Redis that reopens by itself. See {@linkcode StoreLink}.
 *
 * With `listen` there is a second connection, for messages. If one is lost, both
 * are replaced, so silence means that nothing was published. The health check
 * publishes a message on one, which must arrive at the other.
 */
export class RedisLink extends StoreLink<RedisCommands>
  implements RedisCommands {
  readonly send: RedisCommands["send"] = (...args) =>
    this.use((commands) => commands.send(...args));
  readonly run: RedisCommands["run"] = (...args) =>
    this.use((commands) => commands.run(...args));

  /** Creates a link that connects at its first use. */
  constructor(options: RedisLinkOptions) {
    const { key } = options;
    const pulse = options.listen && new Pulse(options.listen.channel);
    super({
      ...options,
      server: "Redis",
      connect: (lose) => connect(options, pulse, lose),
      beat: async (commands) => {
        // A write without effect: a former master refuses it, but still answers
        // reads.
        const write = commands.send(["DEL", besides(key)]);
        await Promise.all([write, pulse?.beat(commands)]);
      },
      isLost: isConnectionLost,
      isPassing: isTemporary,
    });
  }
}

function connect(
  { client, key, listen, onConnect }: RedisLinkOptions,
  pulse: Pulse | undefined,
  lose: (error: Error) => void,
) {
  const connection = createConnection(client, lose);
  const listener = listen && createConnection(client, lose);
  const commands: RedisCommands = {
    send: (args, shard = key) => connection.send(args, shard),
    run: (script, keys, args = []) => run(connection, script, keys, args),
  };
  const ready = (async () => {
    await Promise.all([connection.connect(), listener?.connect()]);
    if (listener !== undefined) {
      await listener.subscribe(pulse!.channel, () => pulse!.arrive());
      // Messages arrive from here on. onConnect() fetches earlier ones.
      await listener.subscribe(listen!.channel, listen!.onMessage);
    }
    await onConnect?.(commands);
    return commands;
  })();
  return {
    ready,
    close() {
      connection.close();
      listener?.close();
    },
  };
}

/** Returns a key on the same shard, which never exists. */
function besides(key: string): string {
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

/** A message to oneself, which proves that messages arrive. */
export class Pulse {
  readonly channel: string;
  #waiting: (() => void)[] = [];

  constructor(channel: string) {
    this.channel = `${channel}:${crypto.randomUUID()}`;
  }

  arrive(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Publishes a message and waits until it arrives. */
  async beat(commands: RedisCommands): Promise<void> {
    const arrived = new Promise<void>((resolve) => this.#waiting.push(resolve));
    await commands.send(["PUBLISH", this.channel, ""]);
    await arrived;
  }
}
