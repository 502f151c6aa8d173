import type { FastifyReply } from 'fastify';
import { findOwnSymbol } from './private-properties.js';

/** How a copy of Fastify keeps the headers of its replies. */
interface KnownReplies {
  /** The private property with an object of all headers, by their lowercase names. */
  readonly headersSymbol: symbol;
  /** Fastify's methods. */
  readonly header: unknown;
  readonly getHeader: unknown;
}

/** `null` if the first reply did not store its headers as known, so that only one reply is examined. */
let known: KnownReplies | null | undefined;

/** Sets a header. After the first one, it examines where the reply has stored it. */
export function setHeader(reply: FastifyReply, name: string, value: string): void {
  reply.header(name, value);
  if (known === undefined) known = examine(reply, name, value);
}

/**
 * Returns the object that keeps the reply's headers.
 *
 * `reply.header()` converts each name to lowercase and stores it in a way that V8 cannot optimize, which costs more than
 * the limiter's decision. So this returns Fastify's private object, once a reply has shown that `reply.header()` only
 * stores the value there. An app that replaces the method sees all headers, because this then returns `undefined`.
 */
export function getHeadersObject(reply: FastifyReply): Record<string, unknown> | undefined {
  if (!known || reply.header !== known.header || reply.getHeader !== known.getHeader) return undefined;
  return (reply as PrivateReply)[known.headersSymbol];
}

/** Returns the value of the header with this lowercase name, which Node's middleware may have set before Fastify. */
export function getHeader(reply: FastifyReply, name: string): unknown {
  const headers = getHeadersObject(reply);
  if (headers === undefined) return reply.getHeader(name);
  const value = headers[name];
  return value === undefined ? reply.raw.getHeader(name) : value;
}

function examine(reply: FastifyReply, name: string, value: string): KnownReplies | null {
  const { header, getHeader } = reply;
  if (!String(header).includes('set-cookie')) return null; // Not Fastify's, which treats cookies differently.
  const headersSymbol = findOwnSymbol(reply, 'fastify.reply.headers');
  if (headersSymbol === undefined || (reply as PrivateReply)[headersSymbol]?.[name] !== value) return null;
  return { headersSymbol, header, getHeader };
}

type PrivateReply = FastifyReply & { readonly [headers: symbol]: Record<string, unknown> | undefined };
