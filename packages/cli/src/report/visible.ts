/** A joiner or a presentation selector within an emoji, which is seen as a part of it. */
const IN_EMOJI = String.raw`(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f`;

/** Control and format characters, lone surrogates, and what else is not seen or changes how other text is shown. */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;

const EITHER = new RegExp(`(${IN_EMOJI})|${UNSEEN}`, 'gu');

/** The text on one line, with what cannot be seen, or what a terminal would obey, as its code: logs hold what strangers sent. */
export function visible(text: string): string {
  return text.replace(EITHER, (character, inEmoji?: string) => inEmoji ?? codeOf(character.codePointAt(0)!));
}

/** JSON of the same value, whose texts are as {@link visible} shows them. Line ends between its texts stay. */
export function visibleJson(json: string): string {
  return json.replace(EITHER, (character, inEmoji?: string) => {
    return inEmoji ?? (character === '\n' ? character : character.split('').map(unitOf).join(''));
  });
}

function codeOf(point: number): string {
  return point > 0xffff ? `\\u{${point.toString(16)}}` : unitOf(String.fromCharCode(point));
}

function unitOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
