/**
 * The event of a call's signal when the procedure is done. Channels end their
 * readers then, because the signal isn't aborted.
 */
export const SETTLED = "settled";

/** The events of a signal that end a channel's reader. */
export const ENDS: readonly string[] = ["abort", SETTLED];
