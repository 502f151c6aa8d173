export type * from './fastify.js';
