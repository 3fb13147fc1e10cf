import { checkPackage } from "./package_rules.ts";
import type { PackageStore } from "./package_store.ts";
import { PublishError } from "./publish_error.ts";
import { unpack } from "./tarball.ts";

/** What JSR tells of a version that was sent to it. */
export interface PublishingTask {
  readonly id: string;
  readonly status: "pending" | "success" | "failure";
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What was sent. */
export interface Upload {
  /** Such as `@quartet/kit`. */
  readonly name: string;
  readonly version: string;
  /** The path of the config, such as `/jsr.json`. */
  readonly config: string;
  /** A tar archive in gzip. */
  readonly tarball: Uint8Array<ArrayBuffer>;
}

/** Publishes what was sent after it was taken, as JSR does. */
export class PublishingTasks {
  readonly #packages: PackageStore;
  readonly #results = new Map<string, Promise<PublishingTask>>();

  /** Makes a list that is empty. */
  constructor(packages: PackageStore) {
    this.#packages = packages;
  }

  /** Begins to publish what was sent. */
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

  /** What has become of a task, when it is done. */
  result(id: string): Promise<PublishingTask> | undefined {
    return this.#results.get(id);
  }

  async #publish(upload: Upload): Promise<void> {
    const files = await unpack(upload.tarball);
    await this.#packages.add(checkPackage(upload, files, this.#packages));
  }
}
