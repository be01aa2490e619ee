/** Returns a text for the beginning of a line: `all decisions` → All decisions */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
