/** Returns the text that {@link escapeKeyPart} has escaped. A hash stays as it is. */
export function unescapeKeyPart(part: string): string {
  return part.replace(/%(?:u([\dA-F]{4})|([\dA-F]{2}))/g, (_, long: string | undefined, short: string) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  );
}
