/** The log cannot be read, or nothing in it is a request. The command ends with 1. */
export class LogError extends Error {
  override readonly name = 'LogError';
}

/** The command was given something it cannot use; the message names it. The command ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was found cannot be written. The command ends with 3. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** What the system says of a file, in words. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : REASONS[code]) ?? message;
}

const REASONS: Partial<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
  EACCES: 'reading or writing it is not permitted',
  EROFS: 'it is on a file system that takes no writes',
  ENOSPC: 'there is no space left',
  EDQUOT: 'there is no space left for this user',
  EFBIG: 'the file would be larger than is permitted',
  Z_BUF_ERROR: 'its gzip data ends too early',
  Z_DATA_ERROR: 'its gzip data is damaged',
};
