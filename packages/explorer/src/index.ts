export { type Explorable, type Exploration, explore, type Place, type Reach } from './explore.js';
export { hashOf } from './hasher.js';
