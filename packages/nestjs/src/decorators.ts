import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import { invalidOption } from '@rollgate/core/store';
import type { RateLimitOptions } from './options.js';

/** The metadata of a class or method: the options of its limit, or `false` for none. */
export const RATE_LIMIT = 'rollgate:rate-limit';

/**
 * Limits a method of a controller, resolver or gateway, or all of its methods together. The options override those of the
 * module, and those of the class. Each decorated class or method has its own count, unless a method inherits the option
 * `prefix` of its class.
 *
 * By default, the prefix of a count is that of the module, and the names of the class and the method. Controllers of the same
 * name also have their module and path in it. Resolvers and gateways of the same name need their own `prefix`.
 *
 * @throws TypeError if the options are not an object. With invalid values, the app does not start.
 *
 * @example
 * ```ts
 * import { Controller, Get } from '@nestjs/common';
 * import { RateLimit } from '@rollgate/nestjs';
 *
 * @Controller()
 * class SearchController {
 *   @Get('search')
 *   @RateLimit({ limit: 5, window: '1m' })
 *   search() {
 *     return 'found';
 *   }
 * }
 * ```
 */
export function RateLimit(options: RateLimitOptions): CustomDecorator {
  if (typeof options !== 'object' || options === null) throw invalidOption('@RateLimit', 'an object', options);
  return SetMetadata(RATE_LIMIT, options);
}

/**
 * Exempts a method from the limit of its class and of the module, or a class from that of the module.
 *
 * @example
 * ```ts
 * import { Controller, Get } from '@nestjs/common';
 * import { SkipRateLimit } from '@rollgate/nestjs';
 *
 * @Controller()
 * class HealthController {
 *   @Get('health')
 *   @SkipRateLimit()
 *   health() {
 *     return 'ok';
 *   }
 * }
 * ```
 */
export function SkipRateLimit(): CustomDecorator {
  return SetMetadata(RATE_LIMIT, false);
}
