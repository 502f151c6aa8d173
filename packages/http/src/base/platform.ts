// What Node provides. `platform.neutral.ts` is its counterpart in the build for other platforms.
export { STATUS_CODES } from 'node:http';
export { isNativeError } from 'node:util/types';
