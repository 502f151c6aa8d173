/** Returns an error that says how to fix a missing table or missing rights. Returns any other error unchanged. */
export function explainError(error: unknown, table: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === '42P01') {
    const fix = 'Call `await store.createTable()` once, or run the statements of `postgresSchema()` in a migration';
    return new Error(`Expected the table ${table} in PostgreSQL, got none. ${fix}`, { cause: error });
  }
  if (code === '42501') {
    const [schema, name] = table.split('.');
    const usage = name === undefined ? '' : ` and \`GRANT USAGE ON SCHEMA ${schema} TO …\``;
    const grant = `\`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO …\`${usage}`;
    const fix = `Run ${grant}, or connect as the owner of the table`;
    return new Error(`Expected the right to read and write the table ${table} in PostgreSQL. ${fix}`, { cause: error });
  }
  return error;
}

/** The same for an error of the statements that create the table. */
export function explainCreateError(error: unknown, table: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === '3F000') {
    const schema = table.split('.')[0];
    return new Error(`Expected the schema ${schema} in PostgreSQL, got none. Run \`CREATE SCHEMA ${schema}\``, {
      cause: error,
    });
  }
  if (code === '42501') {
    const fix = 'Grant `CREATE` on its schema, or run the statements of `postgresSchema()` as another user';
    return new Error(`Expected the right to create the table ${table} in PostgreSQL. ${fix}`, { cause: error });
  }
  return error;
}
