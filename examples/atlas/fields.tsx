// What forms consist of.

import type { ComponentProps, VNode } from "preact";

/** A field of a form. */
export type FieldProps = ComponentProps<"input"> & {
  readonly label: string;
  readonly name: string;
  /** What is wrong with what was filled in. */
  readonly problem?: string | undefined;
};

/** A field with its label, and with what is wrong with it. */
export function Field({ label, name, problem, ...input }: FieldProps): VNode {
  return (
    <>
      <label for={name}>{label}</label>
      <input
        {...input}
        id={name}
        name={name}
        {...problem && {
          "aria-invalid": true,
          "aria-describedby": `${name}-problem`,
        }}
      />
      {problem && <p class="problem" id={`${name}-problem`}>{problem}</p>}
    </>
  );
}

/** What is wrong with a form as a whole, if anything is. */
export function Problem(
  { children }: { children?: string | undefined },
): VNode | null {
  return children ? <p class="problem" role="alert">{children}</p> : null;
}
