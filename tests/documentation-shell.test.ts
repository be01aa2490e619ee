import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import {
  commandsNotRun,
  commandsOfPages,
  commandsRunElsewhere,
  joined,
  packageScriptOf,
  pagesRunElsewhere,
  runOf,
} from './support/page-commands.ts'

/** tests/full/documentation-shell.test.ts runs the commands of the pages, apart from those of the tables. */

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const shown = commandsOfPages()
const lines = shown.flatMap(({ code }) => joined(code).split('\n'))

test('commands are found in the pages, as blocks and as indented lines', () => {
  expect(shown.length).toBeGreaterThan(140)
  expect(lines).toContain('npm run hub -- doctor')
  expect(lines).toContain('call $HUB/api/v1/roster/archetypes')
})

test('commands of sentences and below items of lists are found, too, and forms of commands are not', () => {
  expect(lines).toContain('npx node tests/browser/look.ts')
  expect(lines).toContain('kubectl apply --kustomize deploy/kubernetes')
  expect(lines.filter((line) => line.endsWith('COMMAND'))).toEqual([])
})

test('each command outside of docs/, whose pages no test runs in a shell, is in a table', () => {
  const outside = shown.filter(({ page }) => !page.startsWith('docs/') && !(page in pagesRunElsewhere))
  expect(
    outside.map(({ page, code }) => ({ page, code: runOf(code).trim() })).filter(({ code }) => code !== ''),
  ).toEqual([])
})

test.each(Object.entries(pagesRunElsewhere))('%s is run by %s', (page, file) => {
  expect(shown.some((one) => one.page === page)).toBe(true)
  const text = read(file)
  expect([page, page.split('/').at(-1)!, 'tours.map'].some((name) => text.includes(name))).toBe(true)
})

test.each(Object.entries(commandsRunElsewhere))('a page shows %s, which %s runs', (start, file) => {
  expect(lines.some((line) => line.startsWith(start))).toBe(true)
  const [, ofHub] = /^(?:npm run hub --|hub|source <\(hub) (.*)$/.exec(start) ?? []
  const words = ofHub?.split(' ') ?? [basename(start.split(' ').at(-1)!)]
  const text = read(file)
  expect(words.filter((word) => !text.includes(word))).toEqual([])
})

test.each(Object.entries(commandsNotRun))('a page shows %s, which no test runs: %s', (start, reason) => {
  expect(lines.some((line) => line.startsWith(start))).toBe(true)
  const files = reason.match(/(?:tests|\.ci)\/[\w./-]*\w/g) ?? []
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

test('every script of npm that a page starts is in package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const inPages = shown
    .filter(({ page }) => !page.startsWith('examples/'))
    .flatMap(({ code }) => code.split('\n').map(packageScriptOf))
    .filter((name) => name !== undefined)
  expect(inPages).toContain('test:full')
  expect(inPages.filter((name) => !(name in scripts))).toEqual([])
})
