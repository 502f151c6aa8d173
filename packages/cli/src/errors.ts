/** The log cannot be read or contains no request. The exit code is 1. */
export class LogError extends Error {
  override readonly name = 'LogError';
}

/** A store cannot be read or changed. The exit code is 1. */
export class StoreAccessError extends Error {
  override readonly name = 'StoreAccessError';
}

/** An argument is invalid. The message names it. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The output cannot be written. The exit code is 3. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** Describes an error of the file system. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === undefined ? undefined : REASONS[code]) ?? message;
}

const REASONS: Partial<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  EACCES: 'reading or writing it is not permitted',
  EROFS: 'its file system is read-only',
  ENOSPC: 'there is no space left',
  EDQUOT: 'there is no space left for this user',
  EFBIG: 'the file would be larger than is permitted',
  Z_BUF_ERROR: 'its gzip data ends too early',
  Z_DATA_ERROR: 'its gzip data is damaged',
};
