import type { FastifyPluginCallback } from 'fastify';

/** In the place of that package's own types, which give every app in this program its `app.rateLimit`. */
declare const plugin: FastifyPluginCallback<Record<string, unknown>>;
export default plugin;
