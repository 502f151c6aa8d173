import { describePages } from './support/describe-pages.js';
import { PAGES } from './support/site.js';

/** The pages of the API's symbols are alike, so every tenth one is loaded. A thorough run loads all of them. */
const isLoaded = (name: string, index: number) =>
  process.env.ROLLGATE_THOROUGH === '1' || name.split('/').length < 4 || index % 10 === 0;

describePages(PAGES.filter((name) => name.startsWith('api/')).filter(isLoaded));
