/**
 * Sends garbage of many kinds to a plugin of each strategy, each piece
 * different, and prints how many bytes of heap each round of 45,000 leaves
 * behind. `hostile_test.ts` runs it with `--expose-gc`.
 *
 * @module
 */

import { createAuthPlugin } from "@quartet/kit/auth";
import { heapGrowth } from "../leaks.ts";
import { base64url, HEADER, SECRET, STRATEGIES } from "./harness.ts";

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
let sent = 0;
async function sendGarbage(): Promise<void> {
  for (const end = sent + 2_500; sent < end; sent++) {
    for (const text of garbage(sent)) {
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

const growth = await heapGrowth(sendGarbage);
console.log(JSON.stringify({ asked, growth }));
