export { type DescribeStoreOptions, describeStore } from './describe-store.js';
