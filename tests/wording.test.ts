import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Wordings that readers stumbled over, with the term to use instead. */
const avoided: [wording: RegExp, instead: string][] = [
  [/^\s*(\/\*\*|\*|\/\/) ?(What|Of|Who|Whoever|Whom) /m, 'start a comment with a verb or a noun'],
  [/\breckon/i, 'compute or count'],
  [/\banew\b/i, 'again'],
  [/\bwhoever\b/i, 'the person who, a caller that'],
  [/\blookout\b/i, 'snapshot poller'],
  [/\btold events?\b/i, 'verified event'],
  [/must be there/i, 'is required'],
  [/\bas it stands\b/i, 'unchanged, or the stored value'],
]

const generated = /^(docs\/reference\/|web\/dist|web\/api\/openapi\.d\.ts|bench\/results|server\/db\/migrations)/
const sources = globSync(
  [
    '{bench,cli,contract,demo,provenance,sdk,server,web}/**/*.{ts,tsx,js,py}',
    'README.md',
    'CONTRIBUTING.md',
    'docs/**/*.md',
  ],
  { cwd: root },
).filter((file) => !generated.test(file))

test.each(avoided)('no source and no page has %s', (wording) => {
  const found = sources.flatMap((file) => {
    const match = wording.exec(readFileSync(resolve(root, file), 'utf8'))
    return match ? [`${file}: ${match[0].trim()}`] : []
  })
  expect(found).toEqual([])
})

test('the files are there', () => {
  expect(sources.length).toBeGreaterThan(1000)
})
