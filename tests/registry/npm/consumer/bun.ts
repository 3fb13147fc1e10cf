/** What is used of Bun here, whose types this project does without. */
interface BunGlobal {
  serve<Server extends BunServer = BunServer>(options: {
    readonly hostname: string;
    readonly port: number;
    // deno-lint-ignore no-explicit-any -- as Bun has it: the server is its own
    fetch(request: Request, server: any): unknown;
    readonly websocket: object;
  }): Server;
}

/** A server of Bun. */
export interface BunServer {
  readonly port: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Bun. */
export const { Bun } = globalThis as unknown as { Bun: BunGlobal };
