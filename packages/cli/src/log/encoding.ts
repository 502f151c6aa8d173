/** What the first bytes of a log mean. */
export type Encoding =
  | { readonly kind: 'plain' | 'gzip' }
  /** A compression that Node cannot unpack, and the command that can. */
  | { readonly kind: 'packed'; readonly name: string; readonly command: string }
  | { readonly kind: 'utf16'; readonly label: 'utf-16le' | 'utf-16be' };

/** So many bytes identify every encoding. */
export const MAGIC_BYTES = 6;

const PACKED = [
  { magic: 'fd377a585a00', name: 'xz', command: 'xz -dc' },
  { magic: '28b52ffd', name: 'zstd', command: 'zstd -dc' },
  { magic: '425a68', name: 'bzip2', command: 'bzip2 -dc' },
  { magic: '04224d18', name: 'lz4', command: 'lz4 -dc' },
  { magic: '504b0304', name: 'zip', command: 'unzip -p' },
  { magic: '377abcaf271c', name: '7-Zip', command: '7z x -so' },
] as const;

/** Detects how a log is encoded by its first bytes, whatever its name is. */
export function encodingOf(first: Uint8Array): Encoding {
  const hex = Array.from(first.subarray(0, MAGIC_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hex.startsWith('1f8b')) return { kind: 'gzip' };
  const packed = PACKED.find(({ magic }) => hex.startsWith(magic));
  if (packed !== undefined) return { kind: 'packed', name: packed.name, command: packed.command };
  // A byte order mark, or an ASCII character in two bytes.
  if (hex.startsWith('fffe') || /^(?!00)..00(?!00)..00/.test(hex)) return { kind: 'utf16', label: 'utf-16le' };
  if (hex.startsWith('feff') || /^00(?!00)..00(?!00)/.test(hex)) return { kind: 'utf16', label: 'utf-16be' };
  return { kind: 'plain' };
}

export async function* fromUtf16(chunks: AsyncIterable<Buffer>, label: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(label);
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}
