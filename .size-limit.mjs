// What the README promises about sizes: npx size-limit
const OF_BUNDLER = {
  conditions: ['workerd', 'worker', 'browser'],
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  tsconfigRaw: {},
};

/** What npm installs for a package of this repository, with its dependencies but without the framework. */
function installed(name, ...dependencies) {
  const files = [name, ...dependencies].map((folder) => `packages/${folder}/{dist/**,package.json,README.md,LICENSE}`);
  const path = [...files, 'packages/core/node_modules/@lukeed/ms/**'];
  return { name: `@rollgate/${name}, installed`, path, disablePlugins: ['@size-limit/esbuild'], brotli: false };
}

export default [
  {
    name: 'an app on Cloudflare Workers with one rolling window in memory',
    path: 'packages/web/dist/index.mjs',
    import: '{ MemoryStore, rateLimit, rollingWindow }',
    modifyEsbuildConfig: (config) => ({ ...config, ...OF_BUNDLER }),
    gzip: true,
    limit: '31.6 kB',
  },
  { ...installed('core'), limit: '698 kB' },
  { ...installed('express', 'http', 'core'), limit: '932 kB' },
  { ...installed('redis', 'core'), limit: '1252 kB' },
];
