import { readFileSync } from 'node:fs'

/** A block of code of a page. */
export interface PageSnippet {
  /** The heading above it and its language, such as `Connect: ts`, and ` 2` and so on for the next one of both. */
  name: string
  code: string
}

/** Returns the fenced blocks of a page of documentation, by its path in the checkout. */
export function snippetsOf(page: string): PageSnippet[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const counts = new Map<string, number>()
  let heading = ''
  const found: PageSnippet[] = []
  for (const [, title, language, code = ''] of text.matchAll(/^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    heading = title ?? heading
    if (language === undefined) continue
    const name = `${heading}: ${language}`
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    found.push({ name: count === 1 ? name : `${name} ${count}`, code })
  }
  return found
}

/**
 * Returns the runner of each snippet of a page, as rows for `test.each`.
 *
 * @param runners by the name of the snippet
 * @throws Error if a snippet has no runner, or a runner no snippet: then a snippet would not be executed
 */
export function runnersOf<Runner>(
  page: string,
  runners: Record<string, Runner>,
): { name: string; code: string; run: Runner }[] {
  const snippets = snippetsOf(page)
  const names = snippets.map(({ name }) => name).sort()
  const known = Object.keys(runners).sort()
  if (JSON.stringify(names) !== JSON.stringify(known))
    throw new Error(`${page} has the snippets ${names.join(', ')}, and the test runs ${known.join(', ')}.`)
  return snippets.map(({ name, code }) => ({ name, code, run: runners[name] as Runner }))
}
