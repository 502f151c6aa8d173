/** Matches a joiner or a presentation selector within an emoji, which is a visible part of it. */
const EMOJI_JOINER = String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f`;

/** Matches control and format characters, lone surrogates, and other invisible characters that change how text appears. */
const INVISIBLE_CHARACTER = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;

const EMOJI_JOINER_OR_INVISIBLE = new RegExp(`(${EMOJI_JOINER})|${INVISIBLE_CHARACTER}`, 'gu');

/** Replaces invisible characters and terminal controls by their codes, because logs contain what strangers sent. */
export function escapeInvisible(text: string): string {
  return text.replace(
    EMOJI_JOINER_OR_INVISIBLE,
    (character, inEmoji?: string) => inEmoji ?? codeOf(character.codePointAt(0)!),
  );
}

/** Like {@link escapeInvisible} for JSON. The value stays the same, and so do line ends between its texts. */
export function escapeInvisibleJson(json: string): string {
  return json.replace(EMOJI_JOINER_OR_INVISIBLE, (character, inEmoji?: string) => {
    return inEmoji ?? (character === '\n' ? character : character.split('').map(unitOf).join(''));
  });
}

function codeOf(point: number): string {
  return point > 0xffff ? `\\u{${point.toString(16)}}` : unitOf(String.fromCharCode(point));
}

function unitOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Escapes invisible characters and cuts the text to `longest` characters. */
export function toPlainText(text: string, longest = 60): string {
  const shown = escapeInvisible(text);
  // Keeps no half of a surrogate pair.
  return shown.length > longest ? `${shown.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : shown;
}
