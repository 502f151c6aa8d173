import { type Algorithm, BOUNDS, FACTORY_NAMES, type Settings, toOptions, toSettings } from '../race.js';

interface Framework {
  readonly name: string;
  readonly module: string;
  /** How the code imports `rateLimit`. */
  readonly binding?: string;
  /** @param options The options as an object literal. */
  readonly toCode: (options: string) => string;
}

export const FRAMEWORKS: readonly Framework[] = [
  { name: 'Express', module: '@rollgate/express', toCode: (options) => `app.use(rateLimit(${options}));` },
  {
    name: 'Fastify',
    module: '@rollgate/fastify',
    toCode: (options) => `await app.register(rateLimit, ${options});`,
  },
  { name: 'Hono', module: '@rollgate/hono', toCode: (options) => `app.use(rateLimit(${options}));` },
  { name: 'Koa', module: '@rollgate/koa', toCode: (options) => `app.use(rateLimit(${options}));` },
  {
    name: 'NestJS',
    module: '@rollgate/nestjs',
    binding: 'RateLimitModule',
    toCode: (options) => `imports: [RateLimitModule.forRoot(${options})],`,
  },
  {
    name: 'Workers',
    module: '@rollgate/web',
    toCode: (options) => `const limit = rateLimit(${options});\nexport default { fetch: limit(handler) };`,
  },
  {
    name: 'Plain code',
    module: '@rollgate/core',
    binding: 'RateLimiter',
    toCode: (options) => `const limiter = new RateLimiter(${options});\nconst { allowed } = await limiter.check(user);`,
  },
];

export function toCode(settings: Settings, { module, binding = 'rateLimit', toCode: inFramework }: Framework): string {
  const isDefault = settings.algorithm === 'rolling' && module !== '@rollgate/core';
  const factory = FACTORY_NAMES[settings.algorithm];
  const options = Object.entries(toOptions(settings, settings.algorithm))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? `'${value}'` : value}`)
    .join(', ');
  const names = isDefault ? [binding] : [binding, factory];
  const given = isDefault ? `{ ${options} }` : `{\n  limits: ${factory}({ ${options} }),\n}`;
  return `import { ${names.join(', ')} } from '${module}';\n\n${inFramework(given)}\n`;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function toMs(name: string, text: string | undefined): number {
  const [, count, unit = 'ms'] = /^(\d+)\s*(ms|s|m)?$/.exec(text ?? '') ?? [];
  if (count !== undefined) return Number(count) * UNITS[unit]!;
  throw new RangeError(`Expected \`${name}\` to be a time such as '5s', got ${text ?? 'nothing'}`);
}

/**
 * Reads the settings from code like that of {@link toCode}.
 *
 * @throws RangeError with what is missing or invalid.
 */
export function parseCode(code: string): Settings {
  const found = Object.entries(FACTORY_NAMES).find(([, name]) => new RegExp(`\\b${name}\\s*\\(`).test(code));
  const [algorithm, factory] = (found ?? ['rolling', '']) as [Algorithm, string];
  const body = code.slice(factory === '' ? 0 : code.search(new RegExp(`\\b${factory}\\s*\\(`)));
  const options = Object.fromEntries(
    [...body.matchAll(/(\w+):\s*(?:'([^'\n]*)'|"([^"\n]*)"|(\d[\d_]*))/g)].map(([, name, ...texts]) => [
      name!,
      texts.find((text) => text !== undefined)?.replaceAll('_', ''),
    ]),
  );
  const [, limitText = options['limit'] ?? options['capacity'], windowText] =
    /^(\d+)\/(\d+\s*(?:ms|s|m))$/.exec(options['limits'] ?? '') ?? [];
  const limit = /^\d{1,9}$/.test(limitText ?? '') ? Number(limitText) : Number.NaN;
  if (algorithm === 'token' && options['refill'] !== options['capacity']) {
    throw new RangeError('Here, `refill` must be the same as `capacity`, so that all algorithms have the same limit');
  }
  const windowMs =
    algorithm === 'leaky'
      ? toMs('interval', options['interval']) * limit
      : algorithm === 'token'
        ? toMs('every', options['every'])
        : toMs('window', windowText ?? options['window']);
  const minDifferenceMs = options['minDifference'] === undefined ? 0 : toMs('minDifference', options['minDifference']);
  const [least, most] = BOUNDS.limit;
  if (Number.isNaN(limit)) throw new RangeError(`Expected \`limit\` to be an integer from ${least} to ${most}`);
  return toSettings({ algorithm, limit, windowMs, minDifferenceMs });
}
