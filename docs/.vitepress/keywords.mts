/** By page or by section, what readers search for in other words than those of the page. */
export const KEYWORDS: Readonly<Record<string, string>> = {
  'behind-a-proxy':
    'trust proxy trustproxy x-forwarded-for forwarded nginx cloudflare cdn load balancer reverse proxy elb alb aws fly render heroku kubernetes ingress ip address client ip spoof forge real ip',
  'common-tasks': 'how to examples snippets cookbook',
  deploy:
    'docker compose dockerfile kubernetes pods pm2 cluster lambda serverless aws shutdown sigterm replicas rolling deploy restart',
  koa: 'koa',
  node: 'node deno bun fetch handler',
  'node#node': 'http http2 connect polka',
  observe:
    'prometheus grafana opentelemetry otel monitoring dashboard alerting statsd datadog diagnostics channel diagnostics_channel hooks logging observability tracing subscribe metrics events who is limited',
  troubleshooting: 'not working does not work problem nobody is limited undefined network error missing headers',
  'extending#add-a-host': 'custom framework adapter restify hapi polka',
  algorithms:
    'token bucket leaky bucket sliding window sliding log fixed window rolling window burst bursts bursting algorithm gcra',
  'comparison#speed-and-memory': 'benchmark benchmarks performance speed fast overhead',
  blocks: 'block ban banning blacklist denylist blocklist suspend penalty lock out',
  quotas: 'monthly quota daily quota month day calendar timezone time zone billing usage plan credits subscription',
  'stability#changelog': 'changelog release notes releases what changed',
  'calling-apis':
    'fetch undici outgoing requests third-party api github openai stripe shopify discord 429 from an api retry',
  'reported-quota': 'outgoing limiter reportedQuota report own client protocol told quota',
  'calls-in-detail': 'bottleneck p-throttle octokit throttling compare outgoing libraries',
  cli: 'command line access log analyze logs replay',
  comparison: 'alternatives compared versus difference',
  concurrency:
    'concurrency concurrent requests semaphore slots in flight simultaneous parallel mutex lock max running lease',
  'quotas#budget-llm-tokens':
    'llm openai anthropic tokens token budget tpm tokens per minute ai gpt claude streaming reserve settle actual cost',
  decisions:
    'refund peek undo give back cost weight weighted several limits combine multiple limits without http standalone function core reset clear key unlock count operations check plain code',
  errors: 'error code codes exception throw warning rollgatewarning console suppress',
  express: 'express middleware per route router',
  fastify: 'fastify plugin per route',
  'deploy#choose-the-limit':
    'choose a limit which limit rollout dry run dryrun log only shadow mode staging report only right limit',
  guarantees: 'memory leak bounded exact proof correctness clock skew race condition atomic',
  headers:
    '429 too many requests status code retry-after retry after x-ratelimit x-ratelimit-reset x-ratelimit-remaining x-ratelimit-limit ratelimit ratelimit-policy draft ietf cors backoff problem details json body',
  hono: 'hono middleware',
  'hot-key':
    'hot key global limit lease leases credits local decisions millions per second high throughput redis cost multi region regions latency geo distributed',
  keys: 'whitelist allowlist allow list per user user id api key ipv6 subnet skip exempt bypass internal traffic identify session',
  login:
    'brute force lockout account locked password credential stuffing sign in signin authentication otp 2fa failed attempts',
  'migrating-from-express-rate-limit':
    'express-rate-limit migrate convert express windowMs keyGenerator standardHeaders legacyHeaders rate-limit-redis',
  'migrating-from-fastify-rate-limit': '@fastify/rate-limit migrate timeWindow fastify-rate-limit',
  'migrating-from-rate-limiter-flexible': 'rate-limiter-flexible migrate points duration consume RateLimiterRedis',
  'migrating-from-rate-limiter-flexible#from-rolling-rate-limiter': 'rolling-rate-limiter migrate',
  nestjs: 'nestjs guard nest throttler decorator controller module',
  operating:
    'admin list keys inspect reset unblock block a customer who is limited now support support ticket top operations',
  options:
    'option configuration configure settings all options message handler mindifference custom response reference',
  'overview#defaults-that-matter': 'defaults default values',
  overview: 'get started getting started install start begin introduction',
  'plans-and-tenants':
    'free plan paid plan premium tier tiers tenant multi-tenant customer organization dynamic limit per customer',
  playground: 'demo visualize try interactive simulator',
  postgres: 'postgres postgresql pg database neon supabase',
  queues: 'queue delay throttle outgoing calls pace slow down wait third-party api client throttling',
  'recipes/bullmq': 'bullmq bull worker',
  'recipes/cloudflare-workers': 'cloudflare workers durable object kv wrangler worker',
  'recipes/graphql-trpc-mcp': 'graphql trpc mcp',
  'recipes/graphql-trpc-mcp#graphql-yoga': 'graphql yoga query complexity apollo',
  'recipes/graphql-trpc-mcp#mcp-servers': 'mcp model context protocol tool agent',
  'recipes/graphql-trpc-mcp#trpc': 'trpc procedure middleware',
  'recipes/nextjs': 'nextjs next.js vercel route handler middleware proxy',
  'recipes/nextjs#sveltekit': 'sveltekit svelte hooks',
  'websockets#socketio': 'socket.io socketio',
  'login#exact-limits-for-better-auth': 'better-auth better auth',
  redis:
    'redis ioredis node-redis valkey upstash edge serverless lambda aws several processes distributed shared store multiple instances kubernetes pods horizontal scaling',
  'redis#go-to-production': 'redis sentinel eviction maxmemory ttl persistence production checklist',
  'redis#allow-the-commands': 'acl permissions user commands',
  'redis#redis-cluster': 'cluster hash slot crossslot',
  'redis#choose-the-log': 'sorted set zset',
  sqlite: 'sqlite better-sqlite3 libsql turso file pm2 node workers restart persist',
  stability: 'semver versions node version support deprecation security production ready maintained',
  'store-failures':
    'redis down outage fail open fail closed fallback timeout connection lost onstoreerror circuit breaker',
  testing: 'test tests testing jest vitest node:test fake timers mock clock unit test',
  websockets: 'websocket ws connection limit messages per connection max connections',
  'extending#write-a-store': 'custom store mysql mongodb dynamodb mongo own database adapter createstore',
  'common-tasks#limit-each-user-and-strangers-by-ip':
    'user id otherwise ip fallback anonymous authenticated authentication logged in session per user per ip',
  'common-tasks#limit-one-route': 'one route different limit per route single endpoint path',
  'common-tasks#log-who-is-limited': 'log who logging limited rejected clients',
  'common-tasks#leave-out-health-checks': 'exclude health check healthcheck ignore skip path exclude route',
  'common-tasks#exempt-your-own-network': 'skip internal network office exempt allow list',
  'common-tasks#turn-limits-off-in-tests': 'disable turn off in tests development local enabled',
  'common-tasks#reset-a-user': 'reset user clear unlock',
  'common-tasks#read-what-is-left': 'remaining left read usage',
  'common-tasks#delay-instead-of-rejecting': 'delay slow down instead of rejecting throttle',
  'common-tasks#send-your-own-429': 'custom message body',
  'headers#status-and-body-of-a-rejection': '429 response body custom error json message html body format',
  'headers#read-the-headers-in-a-browser-cors':
    'cors browser expose headers preflight options read retry-after in browser',
  'keys#ipv6': 'ipv6 subnet prefix 56 64 change address',
  'plans-and-tenants#show-what-is-left': 'show remaining quota dashboard customer usage',
  'login#unlock-an-account': 'unlock account password reset',
  'observe#alert-rules': 'alert alerts alerting rejected',
  'deploy#kubernetes': 'kubernetes pods k8s',
  'deploy#pm2-and-cluster': 'pm2 cluster mode workers',
  'deploy#lambda-and-other-functions': 'aws lambda serverless functions',
  'deploy#shut-down': 'graceful shutdown sigterm drain',
  'deploy#what-survives-a-deploy': 'lost after restart counts survive persist restart',
  'troubleshooting#everyone-gets-429': 'everyone gets 429 all clients blocked',
  'troubleshooting#nobody-is-limited': 'nobody limited not working bypass',
  'comparison#memory-per-key': 'memory usage per client key bytes',
  'queues#limit-notifications-per-person': 'email notifications sms push notification spam alerts',
  'queues#retry-a-job-later': 'background job cron retry later worker',
};
