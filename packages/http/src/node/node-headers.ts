import type { HeaderEditor, NodeResponse } from './adapter.js';

/** The headers of Node's response object. */
export const NODE_HEADERS: HeaderEditor<NodeResponse> = {
  lowercaseHeaders: false,
  getSetHeader: (response) => response.setHeader,
  getHeader: (response, name) => response.getHeader(name),
  removeHeader: (response, name) => response.removeHeader(name),
};
