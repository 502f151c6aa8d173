import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '@rollgate/core';
import { type Connection, connectionOf, type Framework, type NodeResponse } from '@rollgate/http';
import type { NestResponse } from './options.js';

/**
 * What the guard knows about one message of a gateway. The guard, the interceptors and the decorators of a message each get
 * their own context, and only the arguments of these are the same. A payload may be a text, so the guard adds this argument.
 */
class GatewayMessage {
  /** The decision of the last limiter. */
  decision: Decision | undefined;
}

/** Returns what the guard knows about the message of any of its contexts; `undefined` if no limit applies to it. */
export function findMessage(context: ExecutionContext): GatewayMessage | undefined {
  return context.getArgs<unknown[]>().find((argument) => argument instanceof GatewayMessage);
}

/** Returns what the guard knows about a message that has a limit. */
export function messageOf(context: ExecutionContext): GatewayMessage {
  const found = findMessage(context);
  if (found !== undefined) return found;
  const message = new GatewayMessage();
  // Nest expects the pattern at the end. It passes handlers only the arguments that they declare.
  context.getArgs<unknown[]>().splice(-1, 0, message);
  return message;
}

/** What the requests of Express and Fastify, and the clients of WebSockets, have in common. */
interface Client {
  readonly ip?: string;
  readonly raw?: IncomingMessage;
  readonly headers?: IncomingMessage['headers'];
  readonly socket?: { readonly destroyed?: boolean; readonly remoteAddress?: string };
  readonly app?: { get?(setting: string): unknown };
  readonly handshake?: { readonly address?: string; readonly headers?: IncomingMessage['headers'] };
  readonly _socket?: { readonly remoteAddress?: string };
}

interface GraphqlContext {
  readonly req?: object;
  readonly request?: object;
  readonly res?: NestResponse;
  readonly reply?: NestResponse & { readonly request?: object };
}

/**
 * Returns the request of Express or Fastify, also that of a GraphQL operation, or the client of a WebSocket. Without a
 * request in the context of a GraphQL operation, it returns that context.
 */
export function requestOf(context: ExecutionContext): Client {
  if (context.getType<string>() !== 'graphql') return context.getArgByIndex(0);
  const graphqlContext = context.getArgByIndex<GraphqlContext>(2);
  const { req, reply, request = req ?? reply?.request ?? graphqlContext } = graphqlContext;
  return request as Client;
}

/** Returns the headers of the request. Those of a WebSocket are the headers of its handshake, if the adapter keeps them. */
export function headersOf(context: ExecutionContext): IncomingMessage['headers'] {
  const { headers, handshake } = requestOf(context);
  return headers ?? handshake?.headers ?? {};
}

/**
 * Returns what events and `settle` know: the request, or the context of one GraphQL operation or message over a WebSocket.
 * The request of a WebSocket has any number of these, so nothing of them may stay on it.
 */
export function originalRequest(context: ExecutionContext): object {
  const type = context.getType<string>();
  if (type === 'http') return requestOf(context);
  if (type !== 'graphql') return context;
  return responseOf(context) === undefined ? context.getArgByIndex<GraphqlContext>(2) : requestOf(context);
}

/** Returns the response; `undefined` for WebSockets and messages. */
export function responseOf(context: ExecutionContext): NestResponse | undefined {
  const type = context.getType<string>();
  if (type === 'http') return context.getArgByIndex(1);
  if (type !== 'graphql') return undefined;
  const { req, res, reply = res } = context.getArgByIndex<GraphqlContext>(2);
  const response = reply ?? (req as { res?: NestResponse } | undefined)?.res;
  // For a subscription, Mercurius passes a `reply` without the methods of one.
  return typeof (response as HeaderMethods | undefined)?.getHeader === 'function' ? response : undefined;
}

const nodeResponse = (response: NestResponse): NodeResponse => response.raw ?? (response as NodeResponse);
/** Fastify keeps the headers of a reply until it sends it. */
const writer = (response: NestResponse): HeaderMethods => response as HeaderMethods;

interface HeaderMethods {
  header(name: string, value: string): void;
  setHeader(name: string, value: string): void;
  getHeader(name: string): unknown;
  removeHeader(name: string): void;
}

/** Returns the method that sets a header of the response of Express, or of the reply of Fastify. */
export const getSetHeader = (response: NestResponse): HeaderMethods['header'] =>
  response.raw === undefined ? writer(response).setHeader : writer(response).header;

/** How the limiter reads Nest's requests and changes its responses, over Express and Fastify. */
export const NEST: Framework<ExecutionContext, NestResponse> = {
  name: 'RateLimit',
  ownOptions: ['address'],
  resetUnit: 'delta',
  getClientAddress,
  getOriginalRequest: originalRequest,
  getSettledRequest: (context) => (context.getType() === 'ws' ? messageOf(context) : originalRequest(context)),
  haveOwnClasses: true, // Nest runs on Express by default, whose requests have them.
  countsRepeatedly: true, // The guard counts each call of a handler once. A GraphQL operation may call several.
  getRequestHeader: (context, name) => headersOf(context)[name],
  getConnection: (context) => getConnection(requestOf(context)),
  isDisconnected: (context) => requestOf(context).socket?.destroyed ?? false,
  isResponseSent: (response) => response.sent ?? (response as ServerResponse).writableEnded,
  getNodeResponse: nodeResponse,
  headers: {
    lowercaseHeaders: true,
    getSetHeader,
    getHeader: (response, name) => writer(response).getHeader(name),
    removeHeader: (response, name) => writer(response).removeHeader(name),
  },
};

function getClientAddress(context: ExecutionContext): string | undefined {
  const { ip, handshake, _socket, socket } = requestOf(context);
  return ip ?? handshake?.address ?? _socket?.remoteAddress ?? socket?.remoteAddress;
}

/** The client of a WebSocket, and a GraphQL context without a request, have no setting. Only a request of Fastify has `raw`. */
function getConnection(request: Client): Connection | undefined {
  if (request.app?.get === undefined && request.raw === undefined) return undefined;
  const { socket = request.socket } = request.raw ?? request;
  return connectionOf(request, socket?.remoteAddress, (probe) => (request.raw === undefined ? probe : { raw: probe }));
}
