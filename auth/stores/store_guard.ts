import { isA } from "../../core/check/rules.ts";
import { attempt, type MaybePromise, whenDone } from "../../core/promises.ts";
import { printableError } from "../../core/redact/printable.ts";
import { UnavailableError } from "../../core/error_response.ts";
import { RecordError } from "./record_text.ts";
import type { SessionStore } from "./session_store.ts";

/** How many plugins use a store. */
const users = new WeakMap<SessionStore, number>();

/**
 * Wraps a store, so that each of its failures is an `UnavailableError` and is
 * logged once for each outage. Several plugins may share a store: it is closed
 * with the last of them.
 */
export function guardStore(store: SessionStore): SessionStore {
  let isAway = false;
  let isClosed = false;
  users.set(store, (users.get(store) ?? 0) + 1);

  function report(error: unknown): unknown {
    // A store that throws one of these has logged its outage.
    if (isA(error, UnavailableError) || isA(error, RecordError)) return error;
    if (!isAway) {
      console.error("Cannot reach session store:", printableError(error));
    }
    isAway = true;
    return new UnavailableError("Cannot reach session store", { cause: error });
  }

  function guard<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    const result = attempt<MaybePromise<T>>(
      call,
      (error) => Promise.reject(report(error)),
    );
    return whenDone(result, (value) => {
      isAway = false;
      return value;
    });
  }

  return {
    get: (id) => guard(() => store.get(id)),
    set: (record) => guard(() => store.set(record)),
    ...(store.touch && {
      touch: (record) => guard(() => store.touch!(record)),
    }),
    delete: (id) => guard(() => store.delete(id)),
    deleteByUser: (userId) => guard(() => store.deleteByUser(userId)),
    listByUser: (userId) => guard(() => store.listByUser(userId)),
    ...(store.onEnded && {
      onEnded: (listener) => store.onEnded!(listener),
    }),
    ...(store.ping && { ping: () => guard(() => store.ping!()) }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      const others = users.get(store)! - 1;
      users.set(store, others);
      if (others === 0) await store.close?.();
    },
  };
}
