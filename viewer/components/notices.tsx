import { dismiss, notices } from "../state/notices.ts";
import { Tool } from "./controls.tsx";

/** Short messages at the lower edge. */
export function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, text, failed }) => (
        <p key={id} class={failed ? "notice failed" : "notice"}>
          <span>{text.slice(0, 400)}</span>
          {failed && (
            <Tool
              icon="close"
              label="Close the message"
              onClick={() => dismiss(id)}
            />
          )}
        </p>
      ))}
    </div>
  );
}
