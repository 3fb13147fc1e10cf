/**
 * Sends garbage of many kinds to a plugin of each strategy, each piece
 * different, and prints how many bytes its memory has grown. `hostile_test.ts`
 * runs it with `--expose-gc`.
 *
 * @module
 */

import { createAuthPlugin } from "@quartet/kit/auth";
import { base64url, HEADER, SECRET, STRATEGIES } from "./harness.ts";

const { gc } = globalThis as unknown as { gc(): void };
const ROUNDS = 20_000;
const header = base64url(JSON.stringify(HEADER));
const id = "A".repeat(38);
const signature = "A".repeat(37);

const plugins = STRATEGIES.map((strategy) =>
  createAuthPlugin({ session: { secret: SECRET, strategy } })
);

/** Returns garbage that reaches each of the checks. */
function garbage(i: number): string[] {
  const number = String(i).padStart(6, "0");
  const payload = base64url(`{"sub":"${number}","iat":1,"exp":9999999999}`);
  return [
    // Shaped like a token, and like a signed id.
    `${header}.${payload}.${signature}${number}`,
    `${id}${number.slice(1)}.${signature}${number}`,
    `${"x".repeat(1000)}${number}`,
  ];
}

let asked = 0;
async function run(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    for (const text of garbage(i)) {
      for (const plugin of plugins) {
        for (
          const headers of [
            { cookie: `app.session=${text}` },
            { authorization: `Bearer ${text}` },
          ]
        ) {
          const request = new Request("http://localhost/", { headers });
          const auth = await plugin.authenticate(request);
          if (auth.isAuthenticated()) throw new Error("Somebody got in");
          asked++;
        }
      }
    }
  }
}

await run(0, 2_000);
gc();
const before = Deno.memoryUsage().heapUsed;
await run(2_000, ROUNDS);
gc();
const after = Deno.memoryUsage().heapUsed;
console.log(JSON.stringify({ asked, grown: after - before }));
