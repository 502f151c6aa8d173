import type { HeaderEditor, NodeResponse } from './adapter.js';

/** The headers of Node's response object. */
export const NODE_HEADERS: HeaderEditor<NodeResponse> = {
  lowercaseHeaders: false,
  setHeader: (response, name, value) => {
    response.setHeader(name, value);
  },
  getHeader: (response, name) => response.getHeader(name),
  removeHeader: (response, name) => response.removeHeader(name),
};
