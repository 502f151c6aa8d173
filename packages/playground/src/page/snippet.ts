import { leakyIntervalMs, type Settings } from '../shared/settings.js';

/** Formats a duration for the options of Rollgate, such as `'10s'`. */
function duration(ms: number): string {
  return ms % 1000 === 0 ? `'${ms / 1000}s'` : `'${ms}ms'`;
}

/** The code that limits an Express app by these settings. */
export function toSnippet(settings: Settings): string {
  const { factory, options } = toCode(settings);
  const lines = (indent: string) => options.map((option) => `${indent}${option},\n`).join('');
  if (factory === undefined) {
    return `import { rateLimit } from '@rollgate/express';\n\napp.use(rateLimit({\n${lines('  ')}}));\n`;
  }
  return (
    `import { ${factory}, rateLimit } from '@rollgate/express';\n\n` +
    `app.use(rateLimit({\n  limits: ${factory}({\n${lines('    ')}  }),\n}));\n`
  );
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
