/** A part of a search result's snippet. */
export interface SnippetPart {
  text: string
  isMatch: boolean
}

/** Splits a snippet of the Hub at its marks ‹ and ›. Marks without their counterpart stay text. */
export function snippetParts(snippet: string): SnippetPart[] {
  const parts = snippet.split(/‹([^‹›]*)›/)
  return parts.map((text, at) => ({ text, isMatch: at % 2 === 1 })).filter(({ text }) => text !== '')
}
