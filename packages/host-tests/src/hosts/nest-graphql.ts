import 'reflect-metadata';
import type { Server } from 'node:http';
import { type ExecutionContext, Module, UseInterceptors } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Context, GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import {
  type Decision,
  RateLimit,
  RateLimitDecision,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
  settle,
} from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { serveOnFastify } from '../serve-nest.js';
import { SETTLING } from './nest-settling.js';

const warnings: string[] = [];
process.on('warning', (warning) => warnings.push((warning as { code?: string }).code ?? warning.message));

interface GraphqlRequest {
  readonly req: { readonly rateLimit?: Decision; readonly headers: Record<string, string> };
}

class BookResolver {
  book({ req }: GraphqlRequest): string {
    return `${req.rateLimit?.remaining} remain`;
  }
  decided(decision: Decision | undefined): string {
    return `${decision?.remaining} remain`;
  }
  problem(): string {
    return 'a book';
  }
  texted(): string {
    return 'a book';
  }
  async free({ req }: GraphqlRequest): Promise<string> {
    await settle(req, { cost: 0 });
    return 'refunded';
  }
  intercepted(): string {
    return 'a book';
  }
  refunded(): string {
    return 'a book';
  }
  /** For an operation over a WebSocket. Its context has no `req`, but the request of the WebSocket. */
  async settled(context: { readonly request: object }): Promise<string> {
    await settle(context, { cost: 0 });
    const kept = Object.getOwnPropertySymbols(context.request).filter(({ description }) =>
      description?.includes('Rollgate'),
    );
    return `${kept.length} kept`;
  }
  async *published(): AsyncGenerator<object> {
    yield { published: 'a book' };
  }
  warnings(): string {
    return warnings.join(' ');
  }
}
const key = (context: ExecutionContext) => {
  const { req, request = req } = context.getArgByIndex<GraphqlRequest & { readonly request?: GraphqlRequest['req'] }>(
    2,
  );
  return request.headers['x-client'] ?? 'anonymous';
};
decorate(BookResolver, 'book', [Query(() => String)]);
decorate(BookResolver, 'decided', [Query(() => String)]);
RateLimitDecision()(BookResolver.prototype, 'decided', 0);
decorate(BookResolver, 'problem', [Query(() => String), RateLimit({ limit: 1, problem: true })]);
decorate(BookResolver, 'texted', [Query(() => String), RateLimit({ limit: 1, message: 'Slow down' })]);
decorate(BookResolver, 'free', [Query(() => String), RateLimit({ limit: 1 })]);
decorate(BookResolver, 'intercepted', [Query(() => String), RateLimit({ limit: 1 }), UseInterceptors(SETTLING)]);
decorate(BookResolver, 'refunded', [Query(() => String), RateLimit({ limit: 99, skipFailedRequests: true })]);
decorate(BookResolver, 'settled', [Query(() => String), RateLimit({ limit: 1 })]);
decorate(BookResolver, 'published', [Subscription(() => String), RateLimit({ limit: 1 })]);
decorate(BookResolver, 'warnings', [Query(() => String), SkipRateLimit()]);
for (const method of ['book', 'free', 'settled']) Context()(BookResolver.prototype, method, 0);
Resolver()(BookResolver);

class GraphqlModule {}
Module({
  imports: [
    GraphQLModule.forRoot<MercuriusDriverConfig>({
      driver: MercuriusDriver,
      autoSchemaFile: true,
      subscription: { fullWsTransport: true },
    }),
    RateLimitModule.forRoot({ limit: 2, window: '1h', key }),
  ],
  providers: [BookResolver, { provide: APP_GUARD, useClass: RateLimitGuard }],
})(GraphqlModule);

export const createNestGraphql = (): Promise<Server> => serveOnFastify(GraphqlModule);
