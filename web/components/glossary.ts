export interface Concept {
  /** The meaning as plain text. */
  meaning: string
  /** The page of the documentation with the details. */
  href: string
}

/** The page with all concepts. */
export const glossaryPage = '/docs/glossary'

/** Loads the glossary of the documentation, apart from the scripts that every page needs. */
const files = import.meta.glob<string>('../../docs/glossary.md', { query: '?raw', import: 'default' })

/**
 * Returns a concept from `docs/glossary.md`, or undefined if it has no such term.
 *
 * @throws if the text cannot be loaded, for example without a connection
 */
export async function conceptOf(term: string): Promise<Concept | undefined> {
  const [markdown = ''] = await Promise.all(Object.values(files).map((load) => load()))
  let section = ''
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3).toLowerCase().replaceAll(' ', '-')
    const [, name, meaning] = /^\| ([^|]+) \| (.+) \|$/.exec(line) ?? []
    if (name !== term || meaning === undefined) continue
    const link = /\]\(([^)]+)\)/.exec(meaning)?.[1] ?? `glossary.md#${section}`
    return {
      meaning: meaning.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', ''),
      href: `/docs/${link.replace(/\.md(?=#|$)/, '')}`,
    }
  }
  return undefined
}
