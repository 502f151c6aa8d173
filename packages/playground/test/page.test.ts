// All tests of the page are one file, because a browser costs more than most of them. Each part is in a file of its own.
import './support/browser.js';
import './support/shared-server.js';

describe.each([
  ...[
    'buttons',
    'accessibility',
    'settings',
    'drawing',
    'countdown',
    'flood',
    'screen',
    'pointer',
    'static',
    'outage',
    'redis',
  ],
])('%s', (part) => {
  require(`./page/${part}`);
});
