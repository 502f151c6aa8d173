/** By page, the title for search engines and shared links, where the heading alone would say too little there. */
export const TITLES: Readonly<Record<string, string>> = {
  express: 'Rate limiting in Express',
  fastify: 'Rate limiting in Fastify',
  hono: 'Rate limiting in Hono',
  koa: 'Rate limiting in Koa',
  nestjs: 'Rate limiting in NestJS',
  node: 'Rate limiting in Node, Deno and Bun',
  'recipes/nextjs': 'Rate limiting in Next.js and SvelteKit',
  'recipes/cloudflare-workers': 'Rate limiting in Cloudflare Workers',
  redis: 'Rate limiting with Redis',
  postgres: 'Rate limiting with PostgreSQL',
  sqlite: 'Rate limiting with SQLite',
  playground: 'A fixed window lets 19 through a limit of 10. Try it',
};
