/** Files by their path, which begins with a slash. */
export type Files = Map<string, Uint8Array<ArrayBuffer>>;

/** What a version is checked against when its files arrive. */
export type Manifest = Readonly<
  Record<string, { readonly size: number; readonly checksum: string }>
>;

/** What is published of a package at one time. */
export interface NewVersion {
  /** Such as `@quartet/kit`. */
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly files: Files;
}

/** A published version. */
export interface PublishedVersion extends NewVersion {
  /** Made when it was published; the files may be tampered with afterwards. */
  readonly manifest: Manifest;
  readonly createdAt: string;
}

/**
 * How long ago a version seems to have been published, in milliseconds. Deno
 * takes none that is younger than a day.
 */
const AGE = 48 * 60 * 60 * 1000;

/** The packages of a registry, and their versions in the order they came. */
export class PackageStore {
  readonly #packages = new Map<string, Map<string, PublishedVersion>>();

  /** Makes a package that has no version yet. */
  create(name: string): void {
    this.#packages.set(name, new Map());
  }

  /** The versions of a package, if there is such a package. */
  versions(name: string): ReadonlyMap<string, PublishedVersion> | undefined {
    return this.#packages.get(name);
  }

  /** Publishes a version of a package that there is. */
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
