import { performance } from 'node:perf_hooks';

const realNow = performance.now.bind(performance);
const realHrtime = process.hrtime;
/** Reads the simulated microseconds. While the modules load, no time passes, so a seed replays the same each time. */
let readMicros: (() => number) | undefined = () => 0;

// `monotonicClock` keeps `hrtime` and reads the origin when it is loaded, so both are replaced before it.
Object.defineProperty(performance, 'timeOrigin', { configurable: true, value: 2_000_000_000_000 });
// With a quarter of a microsecond more, rounding down finds the whole microsecond.
performance.now = () => (readMicros === undefined ? realNow() : (readMicros() + 0.25) / 1000);
process.hrtime = Object.assign(
  (earlier?: [number, number]): [number, number] => {
    if (readMicros === undefined) return realHrtime(earlier);
    const micros = readMicros();
    return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
  },
  { bigint: () => (readMicros === undefined ? realHrtime.bigint() : BigInt(readMicros()) * 1000n) },
);

/** Makes the process's clocks show this time, or the machine's time if it is `undefined`. */
export function setSimulatedTime(read: (() => number) | undefined): void {
  readMicros = read;
}
