// The order of packages and rooms, which ARCHITECTURE.md describes: each imports only from earlier ones.

/** The libraries. Those of one row do not import each other. */
const PACKAGES = [
  ['core'],
  ['http', 'redis', 'postgres', 'sqlite', 'leasing', 'calendar', 'fetch'],
  ['express', 'fastify', 'hono', 'koa', 'nestjs', 'node', 'web'],
];

/** The rooms of each package, which are folders of its `src`. */
const ROOMS = {
  core: [
    ...['util', 'validation', 'time', 'limits', 'plan', 'decision', 'events', 'store', 'operations'],
    ...[
      'memory',
      'failure',
      'create-store',
      'leases',
      'blocks',
      'waiting',
      'limiter',
      'cached-limits',
      'observe',
      'credit',
    ],
  ],
  http: [
    'host',
    'errors',
    'limits',
    'client',
    'warnings',
    'headers',
    'rejection',
    'options',
    'refunds',
    'gate',
    'node',
    'web',
    'drop-in',
  ],
  postgres: ['clients', 'states', 'sql', 'store'],
  redis: [
    'util',
    'operations',
    'script',
    'clients',
    'sending',
    'denials',
    'settlement',
    'waiting',
    'inspection',
    'store',
  ],
  sqlite: ['database', 'store'],
};

/** No file of `from` may import one of `to`. Both are the beginnings of paths. */
const forbid = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: to },
});

const rowRules = PACKAGES.flatMap((row, index) => {
  const earlier = PACKAGES.slice(0, index).flat();
  return row.map((name) =>
    forbid(
      `${name}-imports-earlier-packages`,
      'adapters → http → core ← stores',
      `^packages/${name}/src/`,
      `^(packages|@rollgate)/(?!(${[...earlier, name].join('|')})(/|$))`,
    ),
  );
});

const roomRules = Object.entries(ROOMS).flatMap(([name, rooms]) => {
  const src = `^packages/${name}/src/`;
  const order = rooms.map((room, index) =>
    forbid(
      `${name}-${room}-imports-earlier-rooms`,
      `the rooms of ${name}: ${rooms.join(', ')}`,
      `${src}${room}/`,
      `${src}(?!(${rooms.slice(0, index + 1).join('|')})/)`,
    ),
  );
  // Entry points are files of `src` itself, which other files do not import.
  const known = forbid(
    `${name}-has-these-rooms`,
    `the rooms of ${name}: ${rooms.join(', ')}`,
    `${src}(?!(${rooms.join('|')})/).+/`,
    '',
  );
  return [...order, known];
});

export default {
  forbidden: [...rowRules, ...roomRules, { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } }],
  options: {
    includeOnly: { path: '^(packages/[^/]+/(src|dist)/|@rollgate/)' },
    doNotFollow: { path: '/dist/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require'],
      extensions: ['.ts', '.mts', '.js'],
    },
  },
};
