/** A generated page of the site. */
export interface ReferencePage {
  title: string
  /** Path on the site, for example `api/budgets.md`. */
  file: string
  text: string
}

/** Returns the text as one line that does not end a cell of a table. */
export function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

/** Returns a block of code. */
export function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\`\n`
}
