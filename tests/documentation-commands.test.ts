import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { expect, test, vi } from 'vitest'
import { createProgram } from '../cli/program.ts'

const root = resolve(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md', '{examples,sdk,deploy,demo}/**/*.md'], {
  cwd: root,
  exclude: ['docs/reference/**', 'CHANGELOG.md', '**/node_modules/**'],
}).sort()

/** Returns the commands of the Hub that a page shows, each as one line. `COMMAND` stands for any. */
function commandsIn(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, ' ')
  const started = [...joined.matchAll(/npm run (?:--silent )?hub -- ([^`\n]+)/g)]
  const short = [...joined.matchAll(/^ {4}hub ([a-z][^\n]*)/gm)]
  return [...started, ...short].map(([, rest = '']) => rest).filter((rest) => !/^[A-Z]+$/.test(rest))
}

/**
 * Returns the words of a command for a shell, up to its end. Brackets of optional parts are left out, and the first of
 * several alternatives (`FILE|URL`) counts.
 */
function wordsOf(line: string): string[] {
  const words: string[] = []
  for (const [word] of line.matchAll(/(?:"[^"]*"?|'[^']*'?|\$\([^)]*\)|[^\s"'])+/g)) {
    if (/^(#|[<>|&;]|2>)/.test(word)) break
    const bare = word.replaceAll(/["']/g, '').replaceAll(/^\[|\]$/g, '')
    const end = bare.search(/[);]/)
    if (end !== 0) words.push((end < 0 || bare.includes('(') ? bare : bare.slice(0, end)).split('|')[0]!)
    if (end >= 0 && !bare.includes('(')) break
  }
  return words
}

/** Returns what the command line refuses; undefined if it accepts the words. Runs nothing. */
async function rejectionOf(words: readonly string[]): Promise<string | undefined> {
  const program = await createProgram()
  const refusals: string[] = []
  withoutActions(program, (text) => refusals.push(text))
  try {
    await program.parseAsync(words, { from: 'user' })
    return undefined
  } catch (error) {
    return refusals.join('') || (error as Error).message
  }
}

function withoutActions(command: Command, writeErr: (text: string) => void): void {
  command.configureOutput({ writeErr, writeOut: () => {} })
  // A group has none, unless it takes options itself.
  if (command.commands.length === 0 || command.options.length > 0) command.action(() => {})
  for (const child of command.commands) withoutActions(child, writeErr)
}

const shown = pages.flatMap((page) =>
  commandsIn(readFileSync(join(root, page), 'utf8')).map((line) => ({ page, line })),
)

test('commands are found in the pages', () => {
  expect(shown.length).toBeGreaterThan(70)
})

test.each([...new Set(shown.map(({ page }) => page))])('the commands of %s exist as shown', async (page) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const found = []
  for (const { line } of shown.filter((one) => one.page === page)) {
    const refusal = await rejectionOf(wordsOf(line))
    if (refusal !== undefined) found.push(`${line}: ${refusal}`)
  }
  vi.restoreAllMocks()
  expect(found).toEqual([])
})

test.each([
  ['records find', 'unknown command'],
  ['tenant create acme --mode D --admin-email a@b.example', 'mode'],
  ['verify FILE --nope', 'unknown option'],
])('%s is refused', async (line, reason) => {
  expect(await rejectionOf(wordsOf(line))).toContain(reason)
})
