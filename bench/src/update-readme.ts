// Writes the summary and the table of README.md from the result files, and prints whether they have changed.
import { updateReadme } from './results.js';

console.log(`README.md ${(await updateReadme()) ? 'updated' : 'unchanged'}`);
