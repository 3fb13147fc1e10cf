// A Node service with OpenTelemetry, for services_test.ts. It prints its port.
// WAREHOUSE is the address of the service that it calls.

const { NodeSDK } = require("@opentelemetry/sdk-node");
const {
  HttpInstrumentation,
} = require("@opentelemetry/instrumentation-http");
const {
  UndiciInstrumentation,
} = require("@opentelemetry/instrumentation-undici");
const { logs } = require("@opentelemetry/api");

const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
});
sdk.start();

// The instrumentation changes the module, so it is loaded afterwards.
const http = require("node:http");

const server = http.createServer(async (_request, response) => {
  logs.getLogger("stock").emit({ severityText: "INFO", body: "looking" });
  const reply = await fetch(`${process.env.WAREHOUSE}/shelf/3`);
  response.end(await reply.text());
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
