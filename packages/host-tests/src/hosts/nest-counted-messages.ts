import 'reflect-metadata';
import type { Server } from 'node:http';
import { Controller, type ExecutionContext, Get, Inject, Module, Req, UseGuards } from '@nestjs/common';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { RateLimit, RateLimitGuard, RateLimitModule } from '@rollgate/nestjs';
import { decorate } from '../decorate.js';
import { type Behavior, control, createScenarios } from '../scenarios.js';
import { serveOnExpress } from '../serve-nest.js';

type Message = Readonly<Record<string, string>>;

const { ten } = createScenarios<ExecutionContext>((context, name) => context.getArgByIndex<Message>(1)[name]);

class CountedGateway {
  ten(message: Message): object {
    if ((message['x-behavior'] as Behavior) === 'throw') throw new Error('The handler failed');
    return { event: 'hello', data: {} };
  }
}
decorate(CountedGateway, 'ten', [SubscribeMessage('ten'), RateLimit(ten as never)]);
MessageBody()(CountedGateway.prototype, 'ten', 0);
WebSocketGateway()(CountedGateway);
UseGuards(RateLimitGuard)(CountedGateway);

class ControlController {
  readonly #guard: RateLimitGuard;
  constructor(guard: RateLimitGuard) {
    this.#guard = guard;
  }
  control(request: { readonly url: string }): Promise<object> {
    return control(request.url, { ten: this.#guard.limiterOf(CountedGateway, 'ten')! });
  }
}
decorate(ControlController, 'control', [Get('control/:command/:scenario/:key')]);
Req()(ControlController.prototype, 'control', 0);
Inject(RateLimitGuard)(ControlController, undefined, 0);
Controller()(ControlController);

class CountedModule {}
Module({
  imports: [RateLimitModule.forRoot({})],
  controllers: [ControlController],
  providers: [CountedGateway],
})(CountedModule);

/** Creates a gateway that counts the messages of each client, which they name. */
export const createNestCountedMessages = (): Promise<Server> => serveOnExpress(CountedModule);
