// A program that loads this file first sleeps for no time, but sees its clocks advance as if it had. They stand still otherwise, so how
// busy the machine is changes nothing. `import { setTimeout } from 'node:timers/promises'` has to be its only wait.
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers from 'node:timers/promises';

let nowMs = 0;
// Rollgate reads this clock, and express-rate-limit the date and an interval.
process.hrtime = () => [Math.floor(nowMs / 1000), (nowMs % 1000) * 1e6];
mock.timers.enable({ apis: ['Date', 'setInterval'] });
timers.setTimeout = async (ms) => {
  nowMs += ms;
  mock.timers.tick(ms);
};
syncBuiltinESMExports();
