/** Prints one trace as a reporter does by default; started by cli_test.ts. */

import { createCLIReporter, createTracer } from "@quartet/kit/trace";

const tracer = createTracer();
createCLIReporter(tracer);
tracer.startTrace("job").end();
