import { checkPackage } from "./package_rules.ts";
import type { PackageStore } from "./package_store.ts";
import { PublishError } from "./publish_error.ts";
import { unpack } from "./tarball.ts";

/** State of an upload, as JSR reports it. */
export interface PublishingTask {
  readonly id: string;
  readonly status: "pending" | "success" | "failure";
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Upload {
  /** For example `@quartet/kit`. */
  readonly name: string;
  readonly version: string;
  /** Path of the config, such as `/jsr.json`. */
  readonly config: string;
  /** A gzipped tar archive. */
  readonly tarball: Uint8Array<ArrayBuffer>;
}

/** Publishes uploads asynchronously after accepting them, as JSR does. */
export class PublishingTasks {
  readonly #packages: PackageStore;
  readonly #results = new Map<string, Promise<PublishingTask>>();

  /** Creates an empty list. */
  constructor(packages: PackageStore) {
    this.#packages = packages;
  }

  start(upload: Upload): PublishingTask {
    const id = crypto.randomUUID();
    const result = this.#publish(upload).then(
      (): PublishingTask => ({ id, status: "success", error: null }),
      (error): PublishingTask => ({
        id,
        status: "failure",
        error: {
          code: error instanceof PublishError ? error.code : "internal",
          message: String(error.message),
        },
      }),
    );
    this.#results.set(id, result);
    return { id, status: "pending", error: null };
  }

  /** Waits for a task and returns its result. */
  result(id: string): Promise<PublishingTask> | undefined {
    return this.#results.get(id);
  }

  async #publish(upload: Upload): Promise<void> {
    const files = await unpack(upload.tarball);
    await this.#packages.add(checkPackage(upload, files, this.#packages));
  }
}
