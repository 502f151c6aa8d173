// The entry point `@rollgate/core/credit`: giving units back to a key, for support work.
export { type CreditOptions, credit } from './credit/credit.js';
