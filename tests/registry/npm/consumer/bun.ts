/**
 * The parts of Bun's API that the consumer uses. The project has no types of
 * Bun.
 */
interface BunGlobal {
  serve<Server extends BunServer = BunServer>(options: {
    readonly hostname: string;
    readonly port: number;
    // deno-lint-ignore no-explicit-any -- its type is Bun's Server
    fetch(request: Request, server: any): unknown;
    readonly websocket: object;
  }): Server;
}

export interface BunServer {
  readonly port: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

export const { Bun } = globalThis as unknown as { Bun: BunGlobal };
