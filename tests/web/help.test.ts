import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { conceptOf } from '../../web/components/glossary.ts'

const root = resolve(import.meta.dirname, '../..')
const used = globSync('web/{app,components,pages}/**/*.tsx', { cwd: root }).flatMap((file) =>
  [...readFileSync(resolve(root, file), 'utf8').matchAll(/(?:<Help\s+term=|\bhelp=)"([^"]+)"/g)].map(
    ([, term]) => term!,
  ),
)

test('every term that the UI explains is in the glossary, with a page of the documentation', async () => {
  expect(new Set(used).size).toBeGreaterThan(15)
  for (const term of used) {
    const concept = await conceptOf(term)
    expect([term, concept?.meaning]).toEqual([term, expect.stringMatching(/^[A-Z][^[\]`]+\.$/)])
    const page = /^\/docs\/([\w/-]+)(?:#[\w-]+)?$/.exec(concept!.href)?.[1]
    expect([term, existsSync(resolve(root, `docs/${page}.md`))]).toEqual([term, true])
  }
})

test('a concept comes from its row, with the page that it links to, or the section of the glossary', async () => {
  expect(await conceptOf('Reported cost')).toEqual({
    meaning: 'The cost that the sender states; in the API cost_usd_estimate.',
    href: '/docs/glossary#telemetry',
  })
  expect(await conceptOf('Pack')).toMatchObject({ href: '/docs/skills#packs' })
  expect(await conceptOf('Nothing')).toBeUndefined()
})
