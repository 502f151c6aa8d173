// Replaces the types of `@whatwg-node/fetch`, a dependency of GraphQL Yoga. They include the types of browsers, which would
// then apply to all tests.
export {};
