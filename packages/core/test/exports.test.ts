import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PACKAGES = join(__dirname, '../..');

const CORE_VALUES = `
  MemoryStore RateLimiter RollingCounter StoreError bucketedWindow fixedWindow leakyBucket monotonicClock rollingWindow
  slidingWindowCounter tokenBucket`;

/** The exports of each entry point. A `type` has no value at run time. */
const PUBLIC: Readonly<Record<string, string>> = {
  '@rollgate/core': `
    ${CORE_VALUES}
    type:Awaitable type:BucketedWindow type:BucketedWindowOptions type:CheckOptions type:Clock type:CountingStore
    type:Decision type:DecisionEvent type:Duration type:ErrorCode type:FixedWindow type:FixedWindowOptions type:Key type:LeakyBucket
    type:LeakyBucketOptions type:Limit type:LimitDecision type:Limits type:MemoryStoreOptions type:NameOf
    type:OnStoreError type:RateLimiterOptions type:RefundFailure type:RejectionReason type:RollingCounterOptions type:RollingWindow type:RollingWindowOptions
    type:SlidingWindowCounter type:SlidingWindowCounterOptions type:Store type:StoreFailure type:StoreRecovery
    type:TokenBucket type:TokenBucketOptions type:WaitOptions`,
  '@rollgate/core/store': `
    MAX_KEY_LENGTH ROLLING_WINDOW_OPTIONS parseDuration hashKey scheduleAfter isMemoryStore isThenable keyAt copyString createStore readMicros
    refundInBackground toDecision validate withCode
    type:CounterAlgorithm type:CreateStoreOptions type:StoredNumbers type:Update type:Hit type:State type:StateLifecycle type:Keys type:Plan type:Rule type:StoreConnection type:Verdict`,
  '@rollgate/express': `
    ${CORE_VALUES} createClientKey rateLimit
    type:*@rollgate/core type:RateLimitMiddleware type:RateLimitOptions type:RequestEvent type:WarningCode`,
  '@rollgate/fastify': `
    ${CORE_VALUES} RateLimitError createClientKey default rateLimit
    type:*@rollgate/core type:AppRateLimiter type:RateLimitHookFunction type:RateLimitOptions type:RateLimitPlugin
    type:RateLimitPluginOptions type:RateLimitRouteOptions type:RequestEvent type:WarningCode`,
  '@rollgate/http': `
    HttpLimiter REJECTION_CODE RateLimitError WARNING_CODES createClientKey rejectionBody toError
    type:Adapter type:Awaitable type:CommonOptions type:ForRequest type:Framework type:GetHeader type:Headers
    type:HttpOptions type:LimitOptions type:Next type:NodeResponse type:ProxyTrust type:Rejection type:RejectionBody
    type:RequestEvent type:ResetUnit type:SetHeader type:WarningCode type:WindowOptions`,
  '@rollgate/redis': `
    RedisStore
    type:ClusterSlot type:IoredisClient type:Log type:NodeRedisClient type:RedisClient type:RedisStoreOptions`,
  '@rollgate/store-conformance': `
    checks describeStore vectors worstBursts
    type:AlgorithmName type:Check type:CheckOptions type:LimitSpec type:MakeStore type:Vector type:VectorAction
    type:VectorStep type:VectorVerdict type:WorstBurst`,
};

interface Manifest {
  name: string;
  private?: boolean;
  exports?: Record<string, { import: string } | string>;
}

/** The source of each entry point that a published package offers, by the name that users import. */
const entries = readdirSync(PACKAGES)
  .map((folder) => join(PACKAGES, folder))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .flatMap((folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (manifest.private) return [];
    return Object.entries(manifest.exports ?? {}).flatMap(([path, target]): [string, string][] => {
      if (typeof target === 'string') return []; // The manifest itself.
      const source = target.import.replace('./dist/', 'src/').replace(/\.mjs$/, '.ts');
      return [[manifest.name + path.slice(1), join(folder, source)]];
    });
  });

/** `a`, `type:B` of `export { a, type B } from '…'`, `export type { B }`, `export * as a from '…'` and `export default a`. */
function exportedBy(source: string): string[] {
  const text = readFileSync(source, 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return [
    ...text.matchAll(/^export (?:(type )?(?:\{([^}]*)\}|\* from '([^']+)')|\* as (\w+)|(default) |(.*))/gm),
  ].flatMap((found) => {
    const [, isType, list, all, namespace, byDefault, other] = found;
    if (other !== undefined) throw new Error(`Expected a list of names in ${source}, got: export ${other}`);
    if (all !== undefined && isType) return [`type:*${all}`];
    if (list === undefined) return [namespace ?? byDefault!];
    const names = list.split(',').flatMap((name) => name.trim() || []);
    return names.map((name) => (isType ? `type:${name}` : name.replace(/^type /, 'type:')));
  });
}

const listed = (names: string) => names.split(/\s+/).filter(Boolean).sort();

test('every entry point of a published package is listed here', () => {
  expect(entries.map(([name]) => name).sort()).toEqual(Object.keys(PUBLIC).sort());
});

test.each(entries)('%s exports its public API and nothing else', (name, source) => {
  expect(exportedBy(source).sort()).toEqual(listed(PUBLIC[name]!));
});

// The wrapper has to name every value: what it lacks, `import` lacks. Its types are all there.
test.each(entries)('%s exports the same to `import` as to `require`', (name, source) => {
  const names = exportedBy(source.replace(/\.ts$/, '.mts')).map((entry) => entry.replace(/^.* as /, ''));
  expect(names.sort()).toEqual(
    [
      `type:*./${basename(source, '.ts')}.js`,
      ...listed(PUBLIC[name]!).filter((entry) => !entry.startsWith('type:')),
    ].sort(),
  );
});
