import 'reflect-metadata';
import { Controller, Get, Inject, Module, type Type } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import {
  type Decision,
  RateLimit,
  RateLimitDecision,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitOptions,
  SkipRateLimit,
} from '@rollgate/nestjs';
import { decorate } from '../decorate.js';

/** A login that another route unlocks. Handlers get the decision as an argument. */
export class AccountController {
  readonly #guard: RateLimitGuard;
  constructor(guard: RateLimitGuard) {
    this.#guard = guard;
  }
  login(decision: Decision | undefined): object {
    return { remaining: decision?.remaining };
  }
  async unlock(decision: Decision | undefined): Promise<object> {
    await this.#guard.limiterOf(AccountController, 'login')?.reset('all');
    const unlimited = this.#guard.limiterOf(AccountController, 'unlock');
    return { hasDecision: decision !== undefined, isLimited: unlimited !== undefined };
  }
  unknown(): string {
    try {
      return String(this.#guard.limiterOf(AccountController, 'logout' as never));
    } catch (error) {
      return String(error);
    }
  }
}
Inject(RateLimitGuard)(AccountController, undefined, 0);
decorate(AccountController, 'login', [Get('login'), RateLimit({ limit: 1, window: '1h' })]);
decorate(AccountController, 'unlock', [Get('unlock'), SkipRateLimit()]);
decorate(AccountController, 'unknown', [Get('unknown'), SkipRateLimit()]);
for (const method of ['login', 'unlock']) RateLimitDecision()(AccountController.prototype, method, 0);
Controller('account')(AccountController);

/** Returns why an app does not start if a class and its route have these options. */
export async function startWith(
  ofClass: object | undefined,
  ofMethod: object | undefined,
  isProvider = false,
): Promise<string> {
  class WrongController {
    search(): string {
      return 'found';
    }
  }
  const decorators = ofMethod === undefined ? [] : [RateLimit(ofMethod as RateLimitOptions)];
  decorate(WrongController, 'search', [Get(), ...decorators]);
  if (ofClass !== undefined) RateLimit(ofClass as RateLimitOptions)(WrongController);
  Controller()(WrongController);
  class WrongModule {}
  Module({
    imports: [RateLimitModule.forRoot({})],
    [isProvider ? 'providers' : 'controllers']: [WrongController],
  })(WrongModule);
  class AppModule {}
  Module({ imports: [WrongModule], providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }] })(AppModule);
  const app = await NestFactory.create(AppModule as Type, { logger: false });
  try {
    await app.init();
    return 'started';
  } catch (error) {
    return String(error);
  } finally {
    await app.close();
  }
}
