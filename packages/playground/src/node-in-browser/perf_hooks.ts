const { performance } = globalThis;

export { performance };
