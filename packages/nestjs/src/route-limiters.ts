import type { ExecutionContext, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { MemoryStore } from '@rollgate/core';
import { ROLLING_WINDOW_OPTIONS } from '@rollgate/core/store';
import { mergeOptions, type WarningCode } from '@rollgate/http';
import { NestLimiter } from './nest-limiter.js';
import type { RateLimitModuleOptions, RateLimitOptions } from './options.js';
import { type Handler, nameCount, readMetadata } from './route-names.js';

/** A route's own limiter, that of the module, or `undefined` for a route without a limit. */
type RouteLimiter = NestLimiter | undefined;

const limitersOf = new WeakMap<RateLimitModuleOptions, RouteLimiters>();

/** The limiters of an app's routes. All guards of one module share them. */
export class RouteLimiters {
  readonly #options: RateLimitModuleOptions;
  readonly #byModule: RouteLimiter;
  readonly #byClass = new WeakMap<Type, RouteLimiter>();
  /** By the method, then by its class, because classes may inherit a method. */
  readonly #byMethod = new WeakMap<Handler, WeakMap<Type, { readonly limiter: RouteLimiter }>>();
  #modules: ModulesContainer | undefined;

  private constructor(options: RateLimitModuleOptions) {
    this.#options = { store: new MemoryStore(), ...options };
    const isLimited = ['limits', ...ROLLING_WINDOW_OPTIONS].some((name) => name in options);
    this.#byModule = isLimited ? new NestLimiter(this.#options) : undefined;
  }

  /**
   * Returns the limiters of the module with these options.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  static of(options: RateLimitModuleOptions): RouteLimiters {
    const limiters = limitersOf.get(options) ?? new RouteLimiters(options);
    limitersOf.set(options, limiters);
    return limiters;
  }

  /** Sets the app's modules, whose controllers may have the same name. */
  useModules(modules: ModulesContainer): void {
    this.#modules = modules;
  }

  /**
   * Returns the limiter of a request's route. The first request of a route creates it.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  get(context: ExecutionContext): RouteLimiter {
    const method = context.getHandler() as Handler;
    const type = context.getClass();
    const found = this.#byMethod.get(method)?.get(type);
    if (found !== undefined) return found.limiter;
    const limiter = this.#create(method, type);
    const byType = this.#byMethod.get(method) ?? new WeakMap();
    this.#byMethod.set(method, byType.set(type, { limiter }));
    return limiter;
  }

  #create(method: Handler, type: Type): RouteLimiter {
    const ofMethod = readMetadata(method);
    const ofClass = readMetadata(type);
    if (ofMethod === false) return undefined;
    if (ofMethod !== undefined) {
      const options = ofClass ? mergeOptions<RateLimitOptions>(ofClass, ofMethod) : ofMethod;
      return this.#createWith(options, nameCount(type, method, this.#modules));
    }
    if (ofClass === false) return undefined;
    if (ofClass === undefined) return this.#byModule;
    if (!this.#byClass.has(type)) {
      this.#byClass.set(type, this.#createWith(ofClass, nameCount(type, undefined, this.#modules)));
    }
    return this.#byClass.get(type);
  }

  #createWith(options: RateLimitOptions, name: string): NestLimiter {
    const merged = mergeOptions<RateLimitOptions>(this.#options, options);
    const { prefix = 'rollgate', silence = [] } = merged;
    // The app has one limiter per route, even though the route's first request creates it.
    const added: WarningCode = 'ROLLGATE_LIMITER_PER_REQUEST';
    const ownPrefix = options.prefix ?? `${prefix}:${name}`;
    return new NestLimiter({ ...merged, prefix: ownPrefix, silence: [...silence, added] });
  }
}
