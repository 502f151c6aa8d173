/** What the worker can decide. */
export declare const WORKS: readonly string[];
/** Counts the instructions of one `decide()`, with the loop around it and the collection of its garbage. */
export declare function countInstructions(work: string): Promise<number>;
