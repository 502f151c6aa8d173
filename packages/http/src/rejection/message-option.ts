import type { Awaitable, Decision } from '@rollgate/core';
import { describeRejection, invalidOption, optionError, validateString } from '@rollgate/core/store';
import { isNativeError } from '../host/platform.js';
import { negotiate } from './negotiate.js';
import { HTML_TYPE, type HttpError, JSON_TYPE, problemRejection, type Rejection, TEXT_TYPE } from './rejection.js';

/**
 * Bodies of a rejection in several formats. The request's header `Accept` selects one. An object with other members is itself
 * the body.
 */
export interface MessageFormats {
  /** The page for clients that prefer HTML, such as browsers. Escape what you insert. */
  html?: string | undefined;
  /** The body for clients that prefer plain text. Without `json`, it is also the `message` of the default body. */
  text?: string | undefined;
  /**
   * The body for all other clients, sent as JSON.
   *
   * @defaultValue the default body
   */
  json?: object | undefined;
}

/** The message for a value that JSON cannot represent. */
const notJsonMessage = (name: string, cause: unknown): string =>
  `Expected \`${name}\` to be an object that JSON can represent, got ${String(cause)}`;

/** What `message` should be. */
const MESSAGE = 'a string, an object or a function that returns one';

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
