/**
 * Calls functions that need Deno, and prints their error messages.
 *
 * @module
 */

import { createApp, createUpgrader, serve } from "@quartet/kit/app";
import { createKvStore } from "@quartet/kit/data/kv";
import { createKvSessionStore } from "@quartet/kit/auth/kv";

async function attempt(fn: () => unknown): Promise<string> {
  try {
    await fn();
    return "It works";
  } catch (error) {
    return (error as Error).message;
  }
}

const handshake = new Request("http://localhost/", {
  headers: {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  },
});

console.log(JSON.stringify({
  "serve()": await attempt(() => serve({ fetch: () => new Response() })),
  "app.serve()": await attempt(() => createApp().serve()),
  "upgrade()": await attempt(() =>
    createUpgrader({ message() {} }).upgrade(handshake, { data: null })
  ),
  "createKvStore()": await attempt(() =>
    createKvStore({ name: "shop" } as never)
  ),
  "createKvSessionStore()": await attempt(() =>
    createKvSessionStore({} as never)
  ),
}));
