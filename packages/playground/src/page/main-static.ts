import { BrowserHost } from './browser-host.js';
import { Page } from './page.js';

new Page(new BrowserHost());
