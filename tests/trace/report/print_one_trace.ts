/**
 * Prints one trace with a default reporter. The argument is the viewer's URL.
 * Started by cli_test.ts.
 */

import { createCLIReporter, createTracer } from "@quartet/kit/trace";

const tracer = createTracer();
const [viewerURL] = Deno.args;
createCLIReporter(tracer, viewerURL === undefined ? {} : { viewerURL });
tracer.startTrace("job").end();
