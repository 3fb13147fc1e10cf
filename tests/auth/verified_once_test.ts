/** A token sent with each request isn't verified for each request. */

import { assertEquals } from "@std/assert";
import { createAuthPlugin } from "@quartet/kit/auth";
import { createClock, forge, SECRET } from "./harness.ts";

/** Counts verified signatures until the end of the block. */
function countVerified(): { count: number } & Disposable {
  const { subtle } = crypto;
  const { verify } = subtle;
  const counter = {
    count: 0,
    [Symbol.dispose]: () => void (subtle.verify = verify),
  };
  subtle.verify = (...args) => {
    counter.count++;
    return verify.apply(subtle, args as Parameters<SubtleCrypto["verify"]>);
  };
  return counter;
}

Deno.test("A token in use is verified once, and again after 8 MiB of other tokens", async () => {
  const clock = createClock();
  const plugin = createAuthPlugin({
    session: { secret: SECRET },
    now: clock.now,
  });
  const tokenOf = (sub: string, length = 0) =>
    forge({
      sub,
      name: "x".repeat(length),
      iat: clock.seconds,
      exp: clock.seconds + 600,
    });
  using verified = countVerified();
  /** Sends a token, and returns the number of verified signatures. */
  const ask = async (token: string, expected: string) => {
    const before = verified.count;
    const headers = { authorization: `Bearer ${token}` };
    const auth = await plugin.authenticate(
      new Request("http://localhost/", { headers }),
    );
    assertEquals(auth.session?.userId, expected);
    return verified.count - before;
  };
  let others = 0;
  const askOthers = async (mebibytes: number) => {
    for (let size = 0; size < mebibytes * 2 ** 20;) {
      const id = `other ${others++}`;
      const token = await tokenOf(id, 5_800);
      size += token.length;
      assertEquals(await ask(token, id), 1);
    }
  };

  const token = await tokenOf("1");
  assertEquals(await ask(token, "1"), 1);
  assertEquals(await ask(token, "1"), 0);
  for (let round = 0; round < 3; round++) {
    await askOthers(4);
    assertEquals(await ask(token, "1"), 0, "it was used all the time");
  }
  await askOthers(8);
  assertEquals(await ask(token, "1"), 1);
  assertEquals(await ask(token, "1"), 0);
});
