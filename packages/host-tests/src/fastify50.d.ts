declare module 'fastify50' {
  export { default } from 'fastify';
}
