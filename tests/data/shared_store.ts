import {
  type CacheRecord,
  type CacheStore,
  createMemoryStore,
  type Invalidation,
} from "@quartet/kit/data";

/**
 * The shared state of several processes: a map and a counter in place of a
 * server. Messages take one turn of the event loop.
 */
export class Hub {
  readonly records = new Map<string, CacheRecord>();
  readonly #locks = new Map<string, Promise<void>>();
  readonly #members = new Set<(scopes: Invalidation, number: number) => void>();
  readonly #log = createMemoryStore().invalidations;
  readonly #said: (readonly [Invalidation, number])[] = [];
  /** The error of every operation during an outage. */
  failure: Error | undefined;
  /** Whether operations never finish. */
  hangs = false;

  /** Opens one process's store. */
  open(): CacheStore {
    const memory = createMemoryStore();
    const hear = (scopes: Invalidation, number: number) =>
      void memory.invalidations.invalidate(scopes, number);
    for (const [scopes, number] of this.#said) hear(scopes, number);
    this.#members.add(hear);
    const reach = async () => {
      if (this.hangs) await new Promise(() => {});
      await undefined;
      if (this.failure !== undefined) throw this.failure;
    };
    return {
      invalidations: memory.invalidations,
      get entries() {
        return memory.entries;
      },
      get bytes() {
        return memory.bytes;
      },
      get evictions() {
        return memory.evictions;
      },
      peek: (key) => memory.peek(key),
      get: async (key) => {
        await reach();
        const record = this.records.get(key);
        if (record !== undefined) memory.set(key, record);
        return record;
      },
      set: async (key, record) => {
        memory.set(key, record);
        await reach();
        this.records.set(key, record);
      },
      // Applied locally at once, and completely once the others know.
      invalidate: async (scopes) => {
        memory.invalidations.invalidate(
          scopes,
          memory.invalidations.sequence + 2 ** -20,
        );
        await reach();
        const number = this.#log.invalidate(scopes);
        this.#said.push([scopes, number]);
        for (const hear of this.#members) hear(scopes, number);
      },
      claim: async (key, isUsable) => {
        await reach();
        const record = this.records.get(key);
        if (record !== undefined) {
          memory.set(key, record);
          if (isUsable(record)) return { record };
        }
        const released = this.#locks.get(key);
        if (released !== undefined) return { released };
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#locks.set(key, promise);
        const release = () => {
          if (this.#locks.get(key) === promise) this.#locks.delete(key);
          resolve();
        };
        return { lock: { release } };
      },
    };
  }
}
