import { ConfigurableModuleBuilder, Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { RateLimitModuleOptions } from './options.js';
import { RATE_LIMIT_OPTIONS, RateLimitGuard, RouteLimiters } from './rate-limit-guard.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<RateLimitModuleOptions>({
  optionsInjectionToken: RATE_LIMIT_OPTIONS,
})
  .setClassMethodName('forRoot')
  .build();

/**
 * Provides the options of the limit, and the guard. Import `RateLimitModule.forRoot(options)` once, or
 * `RateLimitModule.forRootAsync({ useFactory, inject })` to create the options from other providers.
 *
 * It is a global module, so that guards of all modules get the options.
 */
export class RateLimitModule extends ConfigurableModuleClass implements OnModuleInit {
  readonly #limiters: RouteLimiters;
  readonly #adapterHost: HttpAdapterHost;

  /**
   * Nest injects the arguments.
   *
   * @throws TypeError, RangeError with the name of the invalid option.
   */
  constructor(options: RateLimitModuleOptions, modules: ModulesContainer, adapterHost: HttpAdapterHost) {
    super();
    this.#limiters = RouteLimiters.of(options);
    this.#limiters.useModules(modules);
    this.#adapterHost = adapterHost;
  }

  /** @throws TypeError with the name of the class or method whose options are invalid. Then the app does not start. */
  onModuleInit(): void {
    this.#limiters.createAll();
    decorateFastifyRequests(this.#adapterHost);
  }
}
Inject(RATE_LIMIT_OPTIONS)(RateLimitModule, undefined, 0);
Inject(ModulesContainer)(RateLimitModule, undefined, 1);
Inject(HttpAdapterHost)(RateLimitModule, undefined, 2);
Module({ providers: [RateLimitGuard], exports: [RateLimitGuard, RATE_LIMIT_OPTIONS] })(RateLimitModule);
Global()(RateLimitModule);

/** What the module uses of a Fastify app. */
interface FastifyApp {
  hasRequestDecorator(name: string): boolean;
  decorateRequest(name: string, value: null): void;
}

/** Over Fastify, makes `request.rateLimit` null until a limiter decides, unless its plugin has done so already. */
function decorateFastifyRequests({ httpAdapter }: HttpAdapterHost): void {
  if (httpAdapter?.getType() !== 'fastify') return;
  const app: FastifyApp = httpAdapter.getInstance();
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', null);
}
