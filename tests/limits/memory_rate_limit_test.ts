import { testLimits } from "./rate_limit_contract.ts";

testLimits({
  name: "Memory",
  make() {
    let time = 0;
    return Promise.resolve({
      processes: 1,
      open: () => ({ now: () => time }),
      pass(ms) {
        time += ms;
        return Promise.resolve();
      },
      rewind(ms) {
        time -= ms;
        return Promise.resolve();
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  },
});
