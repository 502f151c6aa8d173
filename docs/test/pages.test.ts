import { describePages } from './support/describe-pages.js';
import { PAGES } from './support/site.js';

describePages(PAGES.filter((name) => !name.startsWith('api/')));
