// Writes the summary into README.md, from the result files.
import { saveSummary } from './results.js';

await saveSummary();
