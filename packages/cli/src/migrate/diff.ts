/** The unchanged lines around a change. */
const CONTEXT = 3;
/** Longer files differ in one block. */
const MAX_CELLS = 4_000_000;

/** Returns the changes of a file in the unified format, without its names. */
function toDiff(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const lines = compare(old, now);
  const isChange = lines.map((line) => !line.startsWith(' '));
  const isShown = lines.map((_, index) =>
    isChange.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(Boolean),
  );
  const shown: string[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const [index, line] of lines.entries()) {
    if (isShown[index] && !isShown[index - 1]) shown.push(`@@ -${oldLine} +${newLine} @@`);
    if (isShown[index]) shown.push(line);
    if (!line.startsWith('+')) oldLine += 1;
    if (!line.startsWith('-')) newLine += 1;
  }
  return shown.join('\n');
}

/** The lines of both texts, each with `-`, `+` or a blank before it. */
function compare(old: readonly string[], now: readonly string[]): string[] {
  let [start, end] = [0, 0];
  while (start < old.length && old[start] === now[start]) start += 1;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  return [
    ...old.slice(0, start).map((line) => ` ${line}`),
    ...compareMiddle(removed, added),
    ...old.slice(old.length - end).map((line) => ` ${line}`),
  ];
}

/** Keeps the longest common subsequence. */
function compareMiddle(old: readonly string[], now: readonly string[]): string[] {
  const width = now.length + 1;
  if (old.length * width > MAX_CELLS) return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  const kept = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      const at = row * width + column;
      kept[at] = old[row] === now[column] ? kept[at + width + 1]! + 1 : Math.max(kept[at + width]!, kept[at + 1]!);
    }
  }
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const at = row * width + column;
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push(` ${old[row]}`);
      row += 1;
      column += 1;
    } else if (row < old.length && (column === now.length || kept[at + width]! >= kept[at + 1]!))
      lines.push(`-${old[row++]}`);
    else lines.push(`+${now[column++]}`);
  }
  return lines;
}

export { toDiff };
