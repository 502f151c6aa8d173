import 'reflect-metadata';
import type { Server } from 'node:http';
import { createParamDecorator, type ExecutionContext, Module, UseGuards, UseInterceptors } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  concurrency,
  type Decision,
  leakyBucket,
  RateLimit,
  RateLimitDecision,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
  settle,
} from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { serveOnExpress } from '../serve-nest.js';
import { SETTLING } from './nest-settling.js';

/** The codes of all warnings of this process. */
const warnings: unknown[] = [];
process.on('warning', (warning) => warnings.push((warning as { code?: string }).code ?? warning.message));

class ChatGateway {
  chat(client: { rateLimit?: Decision }): object {
    const kept = Object.getOwnPropertySymbols(client).filter(({ description }) => description?.includes('Rollgate'));
    return { event: 'accepted', data: { remaining: client.rateLimit?.remaining, kept: kept.map(String) } };
  }
  queued(): object {
    return { event: 'sent', data: { at: performance.now() } };
  }
  slots(): object {
    return { event: 'never', data: {} };
  }
  warnings(): object {
    return { event: 'warnings', data: warnings };
  }
  decided(decision: Decision | undefined, text: string): object {
    return { event: 'decided', data: { remaining: decision?.remaining, text } };
  }
  undecided(decision: Decision | undefined): object {
    return { event: 'undecided', data: { hasDecision: decision !== undefined } };
  }
  async settled(context: ExecutionContext): Promise<object> {
    await settle(context, { cost: 0 });
    return { event: 'settled', data: {} };
  }
  intercepted(): object {
    return { event: 'intercepted', data: {} };
  }
}
const Context = createParamDecorator((_data: unknown, context: ExecutionContext) => context);
decorate(ChatGateway, 'chat', [SubscribeMessage('chat')]);
ConnectedSocket()(ChatGateway.prototype, 'chat', 0);
decorate(ChatGateway, 'queued', [
  SubscribeMessage('queued'),
  RateLimit({ limits: leakyBucket({ capacity: 1, interval: '300ms' }) }),
]);
decorate(ChatGateway, 'slots', [
  SubscribeMessage('slots'),
  RateLimit({ limits: concurrency({ limit: 1, lease: '1h' }) }),
]);
decorate(ChatGateway, 'warnings', [SubscribeMessage('warnings'), SkipRateLimit()]);
MessageBody()(ChatGateway.prototype, 'warnings', 0);
decorate(ChatGateway, 'decided', [SubscribeMessage('decided'), RateLimit({ limit: 9 })]);
decorate(ChatGateway, 'undecided', [SubscribeMessage('undecided'), SkipRateLimit()]);
for (const method of ['decided', 'undecided']) RateLimitDecision()(ChatGateway.prototype, method, 0);
MessageBody()(ChatGateway.prototype, 'decided', 1);
decorate(ChatGateway, 'settled', [SubscribeMessage('settled'), RateLimit({ limit: 1 })]);
Context()(ChatGateway.prototype, 'settled', 0);
decorate(ChatGateway, 'intercepted', [
  SubscribeMessage('intercepted'),
  RateLimit({ limit: 1 }),
  UseInterceptors(SETTLING),
]);
WebSocketGateway()(ChatGateway);
// In addition to `APP_GUARD`, as gateways of NestJS 11 need it.
UseGuards(RateLimitGuard)(ChatGateway);

class GatewayModule {}
Module({
  imports: [RateLimitModule.forRoot({ limit: 3, window: '1h' })],
  providers: [ChatGateway, { provide: APP_GUARD, useClass: RateLimitGuard }],
})(GatewayModule);

export const createNestGateway = (): Promise<Server> => serveOnExpress(GatewayModule);
