import type { FastifyPluginCallback } from 'fastify';

/** Replaces the package's types, which would add `app.rateLimit` to every app in this program. */
declare const plugin: FastifyPluginCallback<Record<string, unknown>>;
export default plugin;
