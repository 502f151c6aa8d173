// Writes the generated parts of the pages from the result files, and prints which pages have changed.
import { updatePages } from './results.js';

const changed = await updatePages();
console.log(changed.length === 0 ? 'All pages unchanged' : `Changed ${changed.join(', ')}`);
