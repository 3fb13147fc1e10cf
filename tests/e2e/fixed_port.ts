/**
 * Finds a port for a server that stops and starts again on the same one.
 *
 * The system gives out ports above this range to anyone who asks for port 0, so
 * another process could take one of those while the server is down.
 */
export function findFixedPort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
