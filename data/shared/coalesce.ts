/**
 * Returns a function that runs a task. Calls during a run share the next run, so
 * each call gets a run that started after it.
 */
export function coalesce(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    next = undefined;
    const run = task().finally(() => {
      if (running === run) running = undefined;
    });
    return running = run;
  }

  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    return next = running.catch(() => {}).then(start);
  };
}
