import { type Framework, type ProxyTrust, rememberInMap } from '@rollgate/http';
import type { Request, Response } from 'express';

/** How the limiter reads Express's requests and changes its responses. */
export const EXPRESS: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: ['handler', 'requestPropertyName'],
  resetUnit: 'epoch',
  getClientAddress: (request) => request.ip,
  getRequestHeader: (request, name) => request.headers[name],
  getProxyTrust,
  rememberDecision: rememberInMap, // Express gives each request its own class by replacing its prototype.
  isDisconnected: (request) => request.socket.destroyed,
  getNodeResponse: (response) => response,
};

function getProxyTrust({ app }: Request): ProxyTrust {
  const setting: unknown = app.get('trust proxy');
  if (setting === true) return 'every';
  return setting === undefined || setting === false || setting === 0 ? 'none' : 'some';
}
