import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  curlCommand,
  missingParts,
  omittedHeaders,
} from "../../viewer/model/curl.ts";
import { span, trace } from "./make_trace.ts";
import { cmdArguments, powerShellArguments } from "./windows_shells.ts";

const ORIGIN = "http://localhost:8000";

function made(attributes: Record<string, string | number>) {
  return trace(span("x", 0, 1, [], { attributes })).spans[0]!;
}

function curl(attributes: Record<string, string | number>) {
  return curlCommand(made(attributes), ORIGIN);
}

Deno.test("curlCommand() repeats method, headers, path and query", () => {
  assertEquals(
    curl({
      "http.request.method": "POST",
      "url.path": "/cart",
      "url.query": "a=1&b[]=2",
      "http.request.header.accept": "text/html",
      "http.request.header.x-empty": "",
      "http.request.header.content-length": 12,
    }),
    'curl --request POST --header "accept: text/html" --header "x-empty;" ' +
      '--data-binary "@body.txt" --globoff --url "http://localhost:8000/cart?a=1&b[]=2"',
  );
});

Deno.test("curlCommand() reads the headers and the body of a POST from files", () => {
  const attributes = {
    "http.request.method": "POST",
    "url.path": "/cart",
    "http.route": "/cart/:id",
  };
  assertEquals(
    curl(attributes),
    'curl --request POST --header "@headers.txt" --data-binary "@body.txt" ' +
      '--globoff --url "http://localhost:8000/cart"',
  );
  assertEquals(
    missingParts(made(attributes)).map(({ what, file }) => [what, file]),
    [["its headers", "headers.txt"], ["its body", "body.txt"]],
  );
  for (const method of ["GET", "HEAD", "DELETE"]) {
    const span = made({ ...attributes, "http.request.method": method });
    assertEquals(missingParts(span), []);
  }
});

Deno.test("curlCommand() sends the input of a known procedure alone", () => {
  const attributes = {
    "http.request.method": "POST",
    "url.path": "/api/rpc",
    "http.route": "/api/rpc/notes.add",
  };
  const expected = "curl --request POST " +
    '--header "content-type: application/json" --header "@headers.txt" ' +
    '--data-binary "@input.json" ' +
    '--globoff --url "http://localhost:8000/api/rpc/notes.add"';
  const command = (also: Record<string, string>, procedure: string) =>
    curlCommand(made({ ...attributes, ...also }), ORIGIN, procedure);
  assertEquals(command({}, "notes.add"), expected);
  assertEquals(
    command({ "url.path": "/api/rpc/notes.add" }, "notes.add"),
    expected,
  );
  assertEquals(
    missingParts(made(attributes), "notes.add").map(({ what }) => what),
    ["its headers", "the input of notes.add"],
  );
  // A page whose handler calls a procedure.
  assertEquals(
    command({ "url.path": "/notes", "http.route": "/notes" }, "notes.add"),
    'curl --request POST --header "@headers.txt" --data-binary "@body.txt" ' +
      '--globoff --url "http://localhost:8000/notes"',
  );
});

Deno.test("curlCommand() sends the request to the server that the span names", () => {
  assertEquals(
    curl({
      "http.request.method": "GET",
      "url.scheme": "https",
      "server.address": "shop.test",
      "server.port": 8443,
      "url.path": "/",
    }),
    'curl --globoff --url "https://shop.test:8443/"',
  );
});

Deno.test("curlCommand() uses the full URL if the span has one", () => {
  assertEquals(
    curl({ "http.request.method": "HEAD", "url.full": "https://a.test/x?y" }),
    'curl --head --globoff --url "https://a.test/x?y"',
  );
});

Deno.test("curlCommand() supports HTTP only", () => {
  assertEquals(curl({ "url.path": "/" }), undefined);
  assertEquals(curl({ "http.request.method": "GET" }), undefined);
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "-o x", ""]) {
    assertEquals(
      curl({ "http.request.method": "GET", "url.full": url }),
      undefined,
    );
  }
});

Deno.test("curlCommand() returns no command if the method isn't a plain word", () => {
  for (
    const method of [
      "$(id)",
      "GET POST",
      "-X",
      "%PATH%",
      "`id`",
      "A&B",
      "",
      "É",
    ]
  ) {
    const url = { "url.full": "http://a.test/" };
    assertEquals(curl({ "http.request.method": method, ...url }), undefined);
  }
});

Deno.test("curlCommand() separates escapes, so that cmd.exe finds no variable in them", () => {
  const command = (url: string) =>
    curl({ "http.request.method": "GET", "url.full": `http://a.test/${url}` });
  assertEquals(command("a%20b"), 'curl --globoff --url "http://a.test/a%20b"');
  assertEquals(
    command("%CD%20"),
    'curl --url "http://a.test/%{CD%}20"',
  );
  assertEquals(
    command("%DATABASE_URL%41,x"),
    'curl --url "http://a.test/%{DATABASE_URL%}41,x"',
  );
  assertEquals(
    command("%DA,TE%41?[b]={c}"),
    'curl --url "http://a.test/%{DA},TE%{41?%}5Bb%{5D=%}7Bc%7D"',
  );
  assertEquals(
    command("%PATH%"),
    'curl --url "http://a.test/%{25PATH%}25"',
  );
  const digits = '"'.repeat(500);
  assertEquals(
    command(digits),
    `curl --url "http://a.test/${"%22".repeat(500)}"`,
  );
  assertEquals(command("%CD".repeat(500)), undefined);
});

Deno.test("curlCommand() leaves out headers that can't be quoted for all shells, and lists them", () => {
  const header = "http.request.header.";
  const attributes = {
    "http.request.method": "GET",
    "url.full": "http://a.test/",
    [`${header}accept`]: "text/html;q=0.9, */*",
    [`${header}user-agent`]: "Mozilla/5.0 (X11; it's {a} [b] ^ & | < > ~ #)",
    [`${header}if-none-match`]: '"abc"',
    [`${header}x-dollar`]: "$(id)",
    [`${header}x-tick`]: "`id`",
    [`${header}x-percent`]: "%PATH%",
    [`${header}x-bang`]: "!!",
    [`${header}x-back`]: "a\\",
    [`${header}x-line`]: "a\nb",
    [`${header}x-smart`]: "a\u201d; id",
    [`${header}$(id)`]: "a",
  };
  assertEquals(
    curl(attributes),
    'curl --header "accept: text/html;q=0.9, */*" ' +
      '--header "user-agent: Mozilla/5.0 (X11; it\'s {a} [b] ^ & | < > ~ #)" ' +
      '--globoff --url "http://a.test/"',
  );
  assertEquals(omittedHeaders(made(attributes)), [
    "if-none-match",
    "x-dollar",
    "x-tick",
    "x-percent",
    "x-bang",
    "x-back",
    "x-line",
    "x-smart",
    "$(id)",
  ]);
});

/** Fragments of an attack through a path, a query or a header. */
const FRAGMENTS = [
  ...`a/'"$(){}[]<>|&;^!\`\\ \n\r\t\0~*?#@-=,.:+%`,
  ..."é漢😀\u201c\u201d\u2028",
  ...["$(id)", "`id`", "%PATH%", "%CD%20", "%41%42", "!!", "%", '" & calc &"'],
  ...["%DATE:~0,1%", "'; id #", "%ACCESS_KEY%61", "{a,b}", "[1-9]", '\\"'],
];

const text = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 })
  .map((parts) => parts.join(""));

const attributes = fc.record({
  "http.request.method": fc.constantFrom("GET", "POST", "HEAD", "M-SEARCH"),
  "url.path": text.map((path) => `/${path}`),
  "url.query": text,
  "server.address": fc.constantFrom("a.test", "[::1]", "1.2.3.4"),
  "http.request.header.x": text,
  "http.request.header.referer": text,
});

const SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "busybox"].filter((name) =>
  (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  })
);

/** Runs lines in a shell with a `curl` that prints its arguments. */
async function inShell(shell: string, lines: string[]): Promise<string[][]> {
  const args = shell === "busybox" ? ["sh"] : [];
  // Interactive, as when someone pastes the command: bash then expands `!`.
  if (shell === "bash") args.push("--norc", "--noprofile", "-i");
  const child = new Deno.Command(shell, {
    args,
    env: { HISTFILE: "" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const start = `curl() { printf '%s\\037' "$@"; printf '\\036'; }\n`;
  await writer.write(new TextEncoder().encode(start + lines.join("\n") + "\n"));
  await writer.close();
  const { stdout } = await child.output();
  const records = new TextDecoder().decode(stdout).split("\x1e").slice(0, -1);
  return records.map((record) => record.split("\x1f").slice(0, -1));
}

const samples = fc.sample(attributes, { numRuns: 300, seed: 12 });
const commands = samples.map((attributes) => curl(attributes))
  .filter((command) => command !== undefined);

/** The arguments of each command, parsed without any expansion. */
const expected = commands.map((command) =>
  powerShellArguments(command).slice(1)
);

Deno.test("PowerShell and cmd.exe parse each command alike and expand nothing", () => {
  assert(commands.length > 200);
  const isVariable = (name: string) => /^=?[A-Z\d_()]+$/i.test(name);
  for (const [index, command] of commands.entries()) {
    const [program, ...args] = cmdArguments(command, isVariable);
    assertEquals(program, "curl");
    assertEquals(args, expected[index]);
  }
});

for (const shell of SHELLS) {
  Deno.test(`${shell} parses each command as PowerShell and cmd.exe do`, async () => {
    assertEquals(await inShell(shell, commands), expected);
  });
}

Deno.test({
  name: "curl requests the recorded URL",
  ignore: !SHELLS.includes("sh") ||
    !(await new Deno.Command("sh", {
      args: ["-c", "command -v curl"],
      stdout: "null",
    }).output()).success,
  async fn() {
    const received: string[] = [];
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      ({ url }) => {
        received.push(url);
        return new Response();
      },
    );
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const sent: string[] = [];
    const lines: string[] = [];
    for (const attributes of samples.slice(0, 60)) {
      const { "url.path": path, "url.query": query } = attributes;
      const url = URL.parse(`${origin}${path.replace(/^\/+/, "/")}?${query}`);
      const command = curl({
        "http.request.method": "GET",
        "url.full": url!.href,
      });
      if (command === undefined) continue;
      url!.hash = "";
      sent.push(url!.href);
      lines.push(command.replace("curl", "curl --silent --noproxy 127.0.0.1"));
    }
    const { success } = await new Deno.Command("sh", {
      args: ["-c", lines.join(" && ")],
    }).output();
    assert(success);
    assertEquals(received.map(decoded), sent.map(decoded));
  },
});

/** Decodes escapes: to a server, they equal the characters they stand for. */
function decoded(url: string): string {
  return new URL(url).href.replace(
    /%(?![\da-f]{2})/gi,
    "%25",
  ).replace(
    /%([\da-f]{2})/gi,
    (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
