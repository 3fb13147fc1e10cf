import { assert } from "@std/assert";
import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

/** Connects the official client, by the latest revision or an earlier one. */
export async function connectAssistant(
  url: URL,
  mode: "auto" | "legacy" = "auto",
) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode } },
  );
  await client.connect(new StreamableHTTPClientTransport(url));
  return {
    client,
    /** Calls a tool and returns its text, which must not be an error. */
    async call(name: string, args: Record<string, unknown> = {}) {
      const { isError, text } = await this.result(name, args);
      assert(!isError, text);
      return text;
    },
    async result(name: string, args: Record<string, unknown>) {
      const result = await client.callTool({ name, arguments: args });
      const [content] = result.content;
      assert(content?.type === "text");
      return { isError: result.isError === true, text: content.text };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
