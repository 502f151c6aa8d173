import calculateSlot from 'cluster-key-slot';

/** Returns the hash slot of a key. From here, so that only one of the built files has to convert the module. */
export const hashSlotOf: (key: string) => number = calculateSlot;
