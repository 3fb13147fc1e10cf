/**
 * Checks the plugins of an app, drains and closes them.
 *
 * @module
 */

import { kindOf } from "../core/check/rules.ts";
import { holdsGuard, misplaced } from "../core/guard_fragment.ts";
import { attempt } from "../core/promises.ts";
import type { Plugin } from "../core/plugin.ts";
import { printableError } from "../core/redact/printable.ts";
import type { AppOptions } from "./app.ts";

/** Returns the plugins of an app, the outermost first. */
export function readPlugins(
  { trace, plugins = [] }: AppOptions,
): readonly Plugin[] {
  if (trace !== undefined) checkPlugin(trace, "trace");
  plugins.forEach((plugin, index) => checkPlugin(plugin, `plugins[${index}]`));
  const all = trace === undefined ? [...plugins] : [trace, ...plugins];
  const names = new Set<string>();
  for (const { name } of all) {
    if (names.has(name)) {
      const shown = JSON.stringify(name);
      throw new TypeError(
        `Cannot create app: the names of plugins must be unique, but two plugins are called ${shown}; pass one of them`,
      );
    }
    names.add(name);
  }
  return all;
}

function checkPlugin(plugin: unknown, what: string): void {
  let received = kindOf(plugin);
  if (received === "an object") {
    if (typeof (plugin as Plugin).name === "string") {
      if (!holdsGuard(plugin as Plugin)) return;
      throw misplaced("create app", `${what} holds one`);
    }
    received += " without a name";
  } else if (received === "a function") {
    received +=
      "; call it, as in rpcPlugin({ router }), or pass it to app.use() if it is a middleware";
  }
  throw new TypeError(
    `Cannot create app: ${what} must be a plugin, such as tracePlugin(tracer), received ${received}`,
  );
}

/** Notifies all plugins of a shutdown, even if some of them fail. */
export function drainPlugins(plugins: readonly Plugin[]): void {
  for (const plugin of plugins) {
    attempt(() => plugin.drain?.(), (error) => {
      console.error(
        "Plugin %s failed to drain:",
        plugin.name,
        printableError(error),
      );
    });
  }
}

/** Closes all plugins, the last one first, even if some of them fail to. */
export async function closePlugins(plugins: readonly Plugin[]): Promise<void> {
  const errors: unknown[] = [];
  const names: string[] = [];
  for (const plugin of plugins.toReversed()) {
    try {
      await plugin.close?.();
    } catch (error) {
      errors.push(error);
      names.push(JSON.stringify(plugin.name));
    }
  }
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0];
  throw new AggregateError(
    errors,
    `Cannot close app: the plugins ${names.join(", ")} failed to close`,
  );
}
