/** Prints one trace with a default reporter. Started by cli_test.ts. */

import { createCLIReporter, createTracer } from "@quartet/kit/trace";

const tracer = createTracer();
createCLIReporter(tracer);
tracer.startTrace("job").end();
