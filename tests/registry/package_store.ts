/** Files by path. Paths start with a slash. */
export type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** Checksums to compare the files of a version with. */
export type Manifest = Readonly<
  Record<string, { readonly size: number; readonly checksum: string }>
>;

/** A version to publish. */
export interface NewVersion {
  /** For example `@quartet/kit`. */
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly files: Files;
}

export interface PublishedVersion extends NewVersion {
  /** Created when it was published. The files may be changed afterwards. */
  readonly manifest: Manifest;
  readonly createdAt: string;
}

/**
 * Age that versions claim to have, in milliseconds. Deno rejects versions
 * younger than a day.
 */
const AGE = 48 * 60 * 60 * 1000;

/** The packages of a registry. Versions are in order of publication. */
export class PackageStore {
  readonly #packages = new Map<string, Map<string, PublishedVersion>>();

  /** Creates a package without versions. */
  create(name: string): void {
    this.#packages.set(name, new Map());
  }

  /** Returns the versions of a package, or `undefined` if it doesn't exist. */
  versions(name: string): ReadonlyMap<string, PublishedVersion> | undefined {
    return this.#packages.get(name);
  }

  /** Publishes a version of an existing package. */
  async add(version: NewVersion): Promise<void> {
    const entries = [...version.files].map(async ([path, bytes]) =>
      [path, { size: bytes.length, checksum: await checksum(bytes) }] as const
    );
    this.#packages.get(version.name)!.set(version.version, {
      ...version,
      manifest: Object.fromEntries(await Promise.all(entries)),
      createdAt: new Date(Date.now() - AGE).toISOString(),
    });
  }
}

async function checksum(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256-${new Uint8Array(digest).toHex()}`;
}
