/** By page, what readers search for in other words than those of the page. */
export const KEYWORDS: Readonly<Record<string, string>> = {
  'adding-a-host': 'custom framework adapter restify hapi polka',
  algorithms:
    'token bucket leaky bucket sliding window sliding log fixed window rolling window burst bursts bursting algorithm gcra',
  benchmarks: 'benchmark performance speed fast overhead',
  blocks: 'block ban banning blacklist denylist blocklist suspend penalty lock out',
  'budgets-and-quotas':
    'monthly quota daily quota month day calendar timezone time zone billing usage plan credits subscription',
  changelog: 'changelog release notes releases what changed',
  'calling-apis':
    'fetch undici outgoing requests third-party api github openai stripe shopify discord 429 from an api retry',
  cli: 'command line access log analyze logs replay',
  comparison: 'alternatives compared versus difference',
  concurrency:
    'concurrency concurrent requests semaphore slots in flight simultaneous parallel mutex lock max running lease',
  'costs-known-later':
    'llm openai anthropic tokens token budget tpm tokens per minute ai gpt claude streaming reserve settle actual cost',
  decisions: 'refund peek undo give back cost weight weighted several limits combine multiple limits',
  errors: 'error code codes exception throw',
  events: 'diagnostics channel diagnostics_channel hooks logging observability tracing subscribe',
  express: 'express middleware per route router',
  fastify: 'fastify plugin per route',
  'going-live':
    'choose a limit which limit rollout dry run dryrun log only shadow mode staging report only right limit',
  guarantees: 'memory leak bounded exact proof correctness clock skew race condition atomic',
  headers:
    '429 too many requests status code retry-after retry after x-ratelimit x-ratelimit-reset x-ratelimit-remaining x-ratelimit-limit ratelimit ratelimit-policy draft ietf cors backoff problem details json body',
  hono: 'hono middleware',
  'hot-key':
    'hot key global limit lease leases credits local decisions millions per second high throughput redis cost multi region regions latency geo distributed',
  'jobs-and-notifications': 'background job email sms push notification spam alerts cron retry later worker',
  keys: 'whitelist allowlist allow list trust proxy trustproxy x-forwarded-for forwarded nginx load balancer reverse proxy elb alb ip address client ip per user user id api key ipv6 subnet skip exempt bypass internal traffic health check identify session',
  login:
    'brute force lockout account locked password credential stuffing sign in signin authentication otp 2fa failed attempts',
  metrics: 'prometheus grafana opentelemetry otel monitoring dashboard alerting statsd datadog',
  'migrating-from-express-rate-limit':
    'express-rate-limit migrate express rate limit windowMs keyGenerator standardHeaders legacyHeaders rate-limit-redis',
  'migrating-from-fastify-rate-limit': '@fastify/rate-limit migrate timeWindow fastify-rate-limit',
  'migrating-from-rate-limiter-flexible': 'rate-limiter-flexible migrate points duration consume RateLimiterRedis',
  'migrating-from-rolling-rate-limiter': 'rolling-rate-limiter migrate',
  nestjs: 'nestjs guard nest throttler decorator controller module',
  operating:
    'admin list keys inspect reset unblock block a customer who is limited now support support ticket top operations',
  options:
    'option configuration configure settings all options message handler mindifference custom response reference',
  'other-hosts': 'koa deno bun node http fetch',
  overview: 'get started getting started install start begin introduction',
  'plain-code': 'without http standalone function core reset clear key unlock reset count operations check',
  'plans-and-tenants':
    'free plan paid plan premium tier tiers tenant multi-tenant customer organization dynamic limit per customer',
  playground: 'demo visualize try interactive simulator',
  postgres: 'postgres postgresql pg database neon supabase',
  queues: 'queue delay throttle outgoing calls pace slow down wait third-party api client throttling',
  'recipes/bullmq': 'bullmq bull worker',
  'recipes/cloudflare-workers': 'cloudflare workers durable object kv wrangler worker',
  'recipes/graphql-yoga': 'graphql query complexity apollo',
  'recipes/mcp': 'mcp model context protocol tool agent',
  'recipes/nextjs': 'nextjs next.js vercel route handler middleware proxy',
  'recipes/socket-io': 'socket.io socketio',
  'recipes/sveltekit': 'sveltekit svelte hooks',
  'recipes/trpc': 'trpc procedure middleware',
  redis:
    'redis ioredis node-redis valkey upstash edge serverless lambda aws several processes distributed shared store multiple instances kubernetes pods horizontal scaling',
  'redis-in-production':
    'redis cluster sentinel acl eviction maxmemory ttl sorted set lua script persistence key names',
  sqlite: 'sqlite better-sqlite3 libsql turso file pm2 node workers restart persist',
  stability: 'semver versions node version support deprecation security production ready maintained',
  'store-failures':
    'redis down outage fail open fail closed fallback timeout connection lost onstoreerror circuit breaker',
  testing: 'test tests testing jest vitest node:test fake timers mock clock unit test',
  warnings: 'warning rollgatewarning console suppress keys evicted flood maxkeys',
  websockets: 'websocket ws connection limit messages per connection max connections',
  'writing-a-store': 'custom store mysql mongodb dynamodb mongo own database adapter createstore',
};
