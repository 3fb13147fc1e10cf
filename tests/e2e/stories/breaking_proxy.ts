/**
 * A proxy that breaks WebSockets, as proxies with a time limit do.
 *
 * @module
 */

/** A running proxy. Disposing it stops it. */
export interface BreakingProxy extends Disposable {
  /** Its origin. */
  readonly url: string;
  /** Breaks the open sockets of a path. Returns how many there were. */
  breakSockets(path: string): number;
}

/** Starts a proxy of a server on this machine. */
export function startBreakingProxy(port: number): BreakingProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Map<Deno.Conn, string>();
  const decoder = new TextDecoder();

  async function serve(client: Deno.Conn): Promise<void> {
    using server = await Deno.connect({ hostname: "127.0.0.1", port });
    connections.set(client, "");
    const note = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        // The latest request of a connection decides whether it is a socket.
        const head = decoder.decode(chunk.subarray(0, 2_048));
        if (head.startsWith("GET ")) connections.set(client, head);
        controller.enqueue(chunk);
      },
    });
    await Promise.allSettled([
      client.readable.pipeThrough(note).pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
    connections.delete(client);
  }

  (async () => {
    for await (const client of listener) serve(client).catch(() => {});
  })().catch(() => {});

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    breakSockets(path) {
      const broken = [...connections].filter(([, head]) =>
        head.startsWith(`GET ${path} `) && /^upgrade: websocket/im.test(head)
      );
      for (const [connection] of broken) connection.close();
      return broken.length;
    },
    [Symbol.dispose]() {
      listener.close();
      for (const connection of connections.keys()) {
        try {
          connection.close();
        } catch {
          // The other end has closed it.
        }
      }
    },
  };
}
