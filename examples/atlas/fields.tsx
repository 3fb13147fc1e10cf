// Parts of forms.

import type { ComponentProps, VNode } from "preact";

export type FieldProps = ComponentProps<"input"> & {
  readonly label: string;
  readonly name: string;
  /** The error message for the value. */
  readonly problem?: string | undefined;
};

/** A form field with its label and error message. */
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

/** The error message of a whole form, if there is one. */
export function Problem(
  { children }: { children?: string | undefined },
): VNode | null {
  return children ? <p class="problem" role="alert">{children}</p> : null;
}
