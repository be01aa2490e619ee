import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const folder = resolve(import.meta.dirname, '../docs/adr')

test('every decision record has its number and title, and its row in the index', () => {
  const index = readFileSync(join(folder, 'README.md'), 'utf8')
  const rows = [...index.matchAll(/^\| \[(\d{4})\]\((.+)\) \| (.+) \|$/gm)].map((row) => row.slice(1))
  const records = globSync('[0-9]*.md', { cwd: folder })
    .map((file) => basename(file))
    .sort()
    .map((file) => {
      const [heading = ''] = readFileSync(join(folder, file), 'utf8').split('\n', 1)
      const [, number, title] = /^# (\d{4}) (.+)$/.exec(heading) ?? []
      return [number, file, title]
    })
  expect(records.length).toBeGreaterThan(40)
  expect(rows).toEqual(records)
  expect(records.filter(([number, file]) => file?.slice(0, 4) !== number)).toEqual([])
})
