/**
 * Characters that change what a terminal shows: control characters (escape sequences move the cursor or set the title),
 * formats such as the direction of writing, separators of lines, and lone surrogates. The joiners of emoji and scripts
 * are harmless.
 */
const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** Returns text of a server for one line of a terminal: unsafe characters become escapes such as `\u001b`. */
export function terminalText(text: string): string {
  return text.replace(unsafe, escaped)
}

/** Returns text of a server for several lines of a terminal, which keeps its line breaks and tabs. */
export function terminalLines(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

/** Returns JSON in which unsafe characters are escaped; `indent` spaces for people, else on one line. */
export function terminalJson(value: unknown, indent = 0): string {
  // JSON itself escapes those below U+0020, so that line breaks are those of the indent.
  return terminalLines(JSON.stringify(value, undefined, indent))
}

/** Escapes as JSON does, in UTF-16 units, so that the result means the same within a JSON string. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
