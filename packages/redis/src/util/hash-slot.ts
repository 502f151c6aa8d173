import calculateSlot from 'cluster-key-slot';

/** Returns the hash slot of a key. Other files import it from here, so that only one built file converts the CommonJS module. */
export const hashSlotOf: (key: string) => number = calculateSlot;
