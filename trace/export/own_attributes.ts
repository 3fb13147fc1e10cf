/**
 * The attributes in which we keep what OTLP has no field for. They are added
 * on export, taken out on import, and never part of a record.
 */
export const OWN = {
  /** The span's layer. */
  layer: "app.layer",
  /** The span's status where it is `timeout`. */
  status: "app.status",
  /** The trace's metadata as JSON; also says which span is the root. */
  trace: "app.trace",
} as const;
