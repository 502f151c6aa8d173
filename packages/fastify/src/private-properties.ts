/** The symbols of Fastify's private properties, by their descriptions. Each copy of Fastify has its own. */
const knownSymbols = new Map<string, symbol>();

/** Returns the value of the private property with this description, which the object owns or inherits. */
export function findPrivate(object: object, description: string): unknown {
  const known = knownSymbols.get(description);
  if (known !== undefined && known in object) return object[known as keyof object];
  for (let owner: object | null = object; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const symbol = findOwnSymbol(owner, description);
    if (symbol === undefined) continue;
    knownSymbols.set(description, symbol);
    return object[symbol as keyof object];
  }
  return undefined;
}

/** Returns the symbol of the private property with this description, which the object owns. */
export function findOwnSymbol(object: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((candidate) => candidate.description === description);
}
