/** Why the suite need not detect a mutant, by its name. */
export const reasons = {};
