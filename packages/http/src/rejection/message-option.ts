import type { Awaitable, Decision } from '@rollgate/core';
import { invalidOption } from '@rollgate/core/store';
import { optionError } from '../base/option-error.js';
import { isNativeError } from '../base/platform.js';
import type { HttpError } from './http-error.js';
import { describeRejection, JSON_TYPE, problemRejection, type Rejection } from './rejection.js';

/** A `message` that is not a function: a text, an object's members and their JSON, or an error. Empty for the default. */
export interface ResolvedMessage {
  readonly text?: string;
  readonly members?: object;
  readonly json?: string;
  readonly error?: Error;
}

/** The option `message`, as a value or as a function of the request. */
export interface MessageOption extends ResolvedMessage {
  readonly forRequest?: (request: unknown, decision: Decision) => Awaitable<string | object>;
}

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
  if (typeof message === 'string') return { text: message };
  if (typeof message !== 'object' || message === null) {
    throw invalidOption('message', 'a string, an object or a function that returns one', message);
  }
  if (message instanceof Error || isNativeError(message)) return { error: message };
  try {
    return { members: message, json: JSON.stringify(message) };
  } catch (cause) {
    throw optionError(`Expected \`message\` to be an object that JSON can represent, got ${String(cause)}`, { cause });
  }
}

/** Returns the rejection with this message, or with the default text for an empty one. */
export function toRejection(
  message: ResolvedMessage,
  decision: Decision,
  status: number,
  isProblem: boolean,
): Rejection {
  if (message.error !== undefined) return { status, error: withStatus(message.error, status) };
  const text = message.text ?? describeRejection(decision);
  if (isProblem) return problemRejection(status, decision, text, message.members);
  return message.json === undefined ? { status, text } : { status, json: message.json, type: JSON_TYPE };
}

/** Gives an error without a status that of the rejection, where error handlers look for it. Its message is for the client. */
function withStatus(error: Error, statusCode: number): Error {
  const { status, statusCode: ownStatus = status } = error as HttpError;
  if (ownStatus !== undefined || !Object.isExtensible(error)) return error;
  return Object.assign(error, { status: statusCode, statusCode, expose: true });
}
