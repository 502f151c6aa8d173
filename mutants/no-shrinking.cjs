// A property that fails has detected the defect. The shortest history is of no use, and takes a hundred times as long.

require('fast-check').configureGlobal({ endOnFailure: true });
