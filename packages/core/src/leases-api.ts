// The entry point `@rollgate/core/leases`: the list of leases in the states of limits, for limits of other packages.
export * from './leases/lease-list.js';
