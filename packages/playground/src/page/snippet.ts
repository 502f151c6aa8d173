import type { StoreKind } from '../shared/protocol.js';
import { leakyIntervalMs, type Settings } from '../shared/settings.js';

/** Formats a duration for the options of Rollgate, such as `'10s'`. */
function duration(ms: number): string {
  return ms % 1000 === 0 ? `'${ms / 1000}s'` : `'${ms}ms'`;
}

const REDIS_IMPORTS = "import { RedisStore } from '@rollgate/redis';\nimport { Redis } from 'ioredis';\n";
const REDIS_STORE = '  store: new RedisStore({ client: new Redis() }),\n';

/** The code that limits an Express app by these settings. */
export function toSnippet(settings: Settings, store: StoreKind): string {
  const { factory, options } = toCode(settings);
  const lines = (indent: string) => options.map((option) => `${indent}${option},\n`).join('');
  const names = factory === undefined ? 'rateLimit' : `${factory}, rateLimit`;
  const imports = `import { ${names} } from '@rollgate/express';\n${store === 'redis' ? REDIS_IMPORTS : ''}`;
  const limit = factory === undefined ? lines('  ') : `  limits: ${factory}({\n${lines('    ')}  }),\n`;
  return `${imports}\napp.use(rateLimit({\n${limit}${store === 'redis' ? REDIS_STORE : ''}}));\n`;
}

function toCode(settings: Settings): { factory?: string; options: string[] } {
  const { algorithm, limit, windowMs, minDifferenceMs } = settings;
  const window = duration(windowMs);
  const distance = minDifferenceMs === 0 ? [] : [`minDifference: ${duration(minDifferenceMs)}`];
  const windowOptions = [`limit: ${limit}`, `window: ${window}`];
  switch (algorithm) {
    case 'rolling':
      return { options: [...windowOptions, ...distance] };
    case 'bucketed':
      return { factory: 'bucketedWindow', options: [...windowOptions, 'buckets: 10', ...distance] };
    case 'counter':
      return { factory: 'slidingWindowCounter', options: [...windowOptions, ...distance] };
    case 'fixed':
      return { factory: 'fixedWindow', options: [...windowOptions, ...distance] };
    case 'token':
      return {
        factory: 'tokenBucket',
        options: [`capacity: ${limit}`, `refill: ${limit}`, `every: ${window}`, ...distance],
      };
    case 'leaky':
      return {
        factory: 'leakyBucket',
        options: [`capacity: ${limit}`, `interval: ${duration(leakyIntervalMs(settings))}`],
      };
  }
}
