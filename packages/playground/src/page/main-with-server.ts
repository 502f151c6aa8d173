import { Page } from './page.js';
import { ServerHost } from './server-host.js';

new Page(new ServerHost());
