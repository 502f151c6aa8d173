import type { Awaitable, Decision } from '@rollgate/core';
import { describeRejection, invalidOption, validateString } from '@rollgate/core/store';
import { MESSAGE, notJsonMessage } from '../errors/error-texts.js';
import { optionError } from '../errors/errors.js';
import { isNativeError } from '../host/platform.js';
import type { HttpError } from './http-error.js';
import type { MessageFormats } from './message-formats.js';
import { negotiate } from './negotiate.js';
import { HTML_TYPE, JSON_TYPE, problemRejection, type Rejection, TEXT_TYPE } from './rejection.js';

/** A `message` that is not a function. Empty for the default body. */
export interface ResolvedMessage {
  /** The types of its bodies. The first one is for clients that prefer none of them. JSON is the default. */
  readonly types?: readonly string[];
  readonly html?: string | undefined;
  /** A body, or the sentence of the default body. */
  readonly text?: string | undefined;
  /** The members of an object, and their JSON. */
  readonly members?: object | undefined;
  readonly json?: string | undefined;
  readonly error?: Error;
}

/** The option `message`, as a value or as a function of the request. */
export interface MessageOption extends ResolvedMessage {
  readonly forRequest?: (request: unknown, decision: Decision) => Awaitable<string | object>;
}

const FORMATS = ['html', 'text', 'json'];

/**
 * Resolves the option `message` once, so that a rejection does not have to serialize an object.
 *
 * @throws TypeError when it is neither a string, a function nor an object that JSON can represent.
 */
export function resolveMessageOption(message: unknown): MessageOption {
  if (message === undefined) return {};
  if (typeof message === 'function') return { forRequest: message as NonNullable<MessageOption['forRequest']> };
  return resolveMessage(message);
}

/** @throws TypeError when `message` is neither a string nor an object that JSON can represent. */
export function resolveMessage(message: unknown): ResolvedMessage {
  if (typeof message === 'string') return { text: message, types: [TEXT_TYPE] };
  if (typeof message !== 'object' || message === null) {
    throw invalidOption('message', MESSAGE, message);
  }
  if (message instanceof Error || isNativeError(message)) return { error: message };
  const names = Object.keys(message);
  const hasFormats = names.length > 0 && names.every((name) => FORMATS.includes(name));
  return hasFormats ? resolveFormats(message) : { members: message, json: toJson('message', message) };
}

function resolveFormats({ html, text, json }: MessageFormats): ResolvedMessage {
  const types = [JSON_TYPE];
  for (const [name, value, type] of [
    ['message.text', text, TEXT_TYPE],
    ['message.html', html, HTML_TYPE],
  ] as const) {
    if (value === undefined) continue;
    validateString(name, value);
    types.push(type);
  }
  if (json === undefined) return { types, html, text };
  if (typeof json !== 'object' || json === null) throw invalidOption('message.json', 'an object', json);
  return { types, html, text, members: json, json: toJson('message.json', json) };
}

function toJson(name: string, value: object): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw optionError(notJsonMessage(name, cause), { cause });
  }
}

/**
 * Returns the rejection with this message, or with the default text for an empty one.
 *
 * @param accept The request's header `Accept`. Only a message with `types` needs it.
 */
export function toRejection(
  message: ResolvedMessage,
  decision: Decision,
  status: number,
  isProblem: boolean,
  accept: unknown,
): Rejection {
  const { types = [JSON_TYPE], html, text, json, members, error } = message;
  if (error !== undefined) return { status, error: withStatus(error, status) };
  const type = negotiate(accept, types);
  if (type === HTML_TYPE) return { status, body: html!, type };
  if (isProblem) return problemRejection(status, decision, text ?? describeRejection(decision), members);
  if (type === TEXT_TYPE) return { status, body: text!, type };
  return json === undefined ? { status, text: text ?? describeRejection(decision) } : { status, body: json, type };
}

/** Gives an error without a status that of the rejection, where error handlers look for it. Its message is for the client. */
function withStatus(error: Error, statusCode: number): Error {
  const { status, statusCode: ownStatus = status } = error as HttpError;
  if (ownStatus !== undefined || !Object.isExtensible(error)) return error;
  return Object.assign(error, { status: statusCode, statusCode, expose: true });
}
