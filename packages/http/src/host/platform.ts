// What Node provides. `platform.web.ts` takes its place in the build for other platforms.
export { STATUS_CODES } from 'node:http';
export { isNativeError } from 'node:util/types';
