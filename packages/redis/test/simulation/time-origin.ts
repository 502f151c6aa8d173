import { performance } from 'node:perf_hooks';

// `monotonicClock` reads the origin when it is loaded. With the machine's own, a seed would replay differently each time.
Object.defineProperty(performance, 'timeOrigin', { configurable: true, value: 2_000_000_000_000 });
