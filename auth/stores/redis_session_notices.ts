import { HASHED } from "../../core/key_part.ts";
import { createConnection } from "../../core/redis/connection.ts";
import {
  createListening,
  type RedisLink,
  type RedisLinkOptions,
} from "../../core/redis/link.ts";
import { logMessage } from "../../core/redact/printable.ts";
import { createStoreLink } from "../../core/store_link.ts";

/** Called with the ids of sessions, or `undefined` if some were missed. */
type EndListener = (ids: readonly string[] | undefined) => void;

/**
 * Creates a receiver of the ids of ended sessions. It has a connection of its own,
 * which is open while there are listeners.
 *
 * @param options The options of the connection for commands.
 * @param commands The connection for commands. It reports its own outages.
 */
export function createSessionNotices(
  options: RedisLinkOptions,
  commands: RedisLink,
) {
  const { client, what, key, timeout, onError = logMessage } = options;
  const channel = `${key}ended`;
  const listeners = new Set<EndListener>();
  let link: ReturnType<typeof createLink> | undefined;
  let closing: Promise<void> | undefined;
  let isClosed = false;

  /** Adds a listener, and returns a function that removes it. */
  function add(listener: EndListener): () => void {
    if (isClosed) return () => {};
    // The same function may be added twice.
    const own: EndListener = (ids) => listener(ids);
    listeners.add(own);
    link ??= createLink();
    link.open();
    return () => {
      if (listeners.delete(own) && listeners.size === 0) closeLink();
    };
  }

  /** Removes all listeners, and closes the connection. */
  async function close(): Promise<void> {
    isClosed = true;
    listeners.clear();
    closeLink();
    await closing;
  }

  function closeLink(): void {
    closing = Promise.all([closing, link?.close()]).then(() => {});
    link = undefined;
  }

  function notify(ids: readonly string[] | undefined): void {
    for (const listener of listeners) listener(ids);
  }

  function createLink() {
    const listening = createListening({
      channel,
      onMessage: (message) => notify(readMessage(message)),
    });
    return createStoreLink({
      what: `${what}, to hear of sessions that end`,
      server: "Redis",
      timeout,
      // If no connection works, the one for commands says so.
      onError: (error) => commands.isOpen ? onError(error) : undefined,
      connect(lose) {
        const connection = createConnection(client, lose);
        const open = async () => {
          await listening.open(connection);
          // Earlier messages were missed.
          notify(undefined);
          return connection;
        };
        return { ready: open(), close: connection.close };
      },
      beat: () => listening.beat(commands),
      // The connection for commands may work. Then listeners can look.
      onLost: () => notify(undefined),
      isLost: () => true,
      isTemporary: () => false,
    });
  }

  return { add, close };
}

/** Returns the ids in a message, or `undefined` if one is hashed. */
function readMessage(message: string): readonly string[] | undefined {
  try {
    const ids = JSON.parse(message) as string[];
    return ids.some((id) => id.startsWith(HASHED)) ? undefined : ids;
  } catch {
    return undefined;
  }
}
