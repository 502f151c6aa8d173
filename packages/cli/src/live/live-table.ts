import stringWidth from 'string-width';

/** Aligns the cells of each column. Columns of numbers are aligned at their end. */
export function toTable(rows: readonly (readonly string[])[], numeric: readonly number[] = []): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => stringWidth(row[column]!))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const padding = ' '.repeat(widths[column]! - stringWidth(cell));
          return numeric.includes(column) ? padding + cell : cell + padding;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
