import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { governanceKinds } from '../contract/governance-kinds.ts'
import { scopeNames } from '../contract/scopes.ts'
import { placeOf } from '../docs/.vitepress/pages.ts'
import { sidebar } from '../docs/.vitepress/sidebar.ts'
import { secretVariables } from '../server/config/secret-files.ts'
import { pictures, picturesFolder } from './browser/pictures.ts'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md', '{bench,demo,examples,provenance,sdk}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
})
  // The build writes these, and checks their links.
  .filter((file) => !file.startsWith('docs/reference/'))
  .sort()

/** Returns the text without code, where brackets are no links. */
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code')

/** Returns the anchors that GitHub gives the headings of a page. */
function anchorsOf(file: string): Set<string> {
  const headings = [
    ...read(file)
      .replace(/^```[\s\S]*?^```/gm, '')
      .matchAll(/^#{1,6} (.+)$/gm),
  ]
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test.each(pages)('the relative links of %s resolve', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    if (globSync(target, { cwd: root }).length === 0) return true
    return anchor !== undefined && !anchorsOf(target).has(anchor)
  })
  expect(broken).toEqual([])
})

test('a page has the name in its title that the navigation has', () => {
  const names = new Map(sidebar().flatMap(({ items = [] }) => items.map(({ text, link }) => [link, text ?? ''])))
  const titled = pages.flatMap((page) => {
    const name = names.get(
      `/${placeOf(page)
        ?.replace(/\.md$/, '')
        .replace(/(^|\/)index$/, '$1')}`,
    )
    return name === undefined ? [] : [{ name, title: read(page).split('\n')[0]!.toLowerCase() }]
  })
  // The build writes the pages of operations and errors.
  expect(titled.length).toBe(names.size - 2)
  const differs = ({ name, title }: (typeof titled)[number]) =>
    !name.split(/\W+/).every((word) => title.includes(word.toLowerCase()))
  expect(titled.filter(differs)).toEqual([])
})

test('no page has the source of a diagram, which the site would show as text', () => {
  expect(pages.filter((page) => /^```mermaid/m.test(read(page)))).toEqual([])
})

test('the pages show each picture of docs/images with a text, and a test takes those of the UI', () => {
  const shown = pages.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\[([^\]]*)\]\((\S+\.(?:png|jpe?g|gif|svg|webp))\)/g)].map(
      ([, text = '', path = '']) => ({ text, path: join(root, dirname(page), path) }),
    ),
  )
  expect(shown.filter(({ text }) => text.trim() === '')).toEqual([])
  const files = globSync(join(picturesFolder, '*')).sort()
  expect([...new Set(shown.map(({ path }) => path))].sort()).toEqual(files)
  const taken = pictures.map(({ name }) => join(picturesFolder, `${name}.png`)).sort()
  expect(files.filter((file) => !file.endsWith('.svg'))).toEqual(taken)
})

test('a page has at most 310 lines', () => {
  // Each release adds to the changelog.
  const long = pages.filter((page) => page !== 'CHANGELOG.md' && read(page).split('\n').length > 310)
  expect(long).toEqual([])
})

test.each(['README.md', 'bench/README.md'])('%s fits on three screens', (page) => {
  expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})

test('the README counts the targets of bench/README.md, and those that are met', () => {
  const rows = [...read('bench/README.md').matchAll(/^\| \d+ \|.*\| ([^|]+) \| `npm run bench:/gm)]
  const met = rows.filter(([, word]) => word === 'yes').length
  const [, counted, of] =
    /(\d+) of (?:the project's own )?(\d+) targets are met/.exec(read('README.md').replaceAll(/\s+/g, ' ')) ?? []
  expect([counted, of]).toEqual([`${met}`, `${rows.length}`])
})

test('docs/configuration.md has every variable of the service and its commands, and no other', () => {
  const variables = (text: string) => new Set(text.match(/\bHUB_[A-Z][A-Z_]*[A-Z]\b/g))
  const files = ['server/config.ts', ...globSync(['server/config/*.ts', 'cli/**/*.ts'], { cwd: root })]
  // The section of the forwarder in docs/mode-c.md lists the variables of Mode C.
  const sources = files
    .map(read)
    .join('\n')
    .replace(/\bHUB_CONNECTOR_\w+/g, '')
  const asFiles = secretVariables.filter((name) => !name.startsWith('HUB_CONNECTOR_')).map((name) => `${name}_FILE`)
  const documented = variables(read('docs/configuration.md'))
  documented.delete('HUB_CONNECTOR')
  const inCode = new Set([...variables(sources), ...asFiles])
  for (const example of ['HUB_CONNECTOR', ...secretVariables.map((name) => `${name}_FILE`)]) {
    if (!asFiles.includes(example)) inCode.delete(example)
  }
  expect([...documented].sort()).toEqual([...inCode].sort())
})

test('docs/commands.md has every command, and no other', async () => {
  const program = new Command()
  for (const file of globSync('cli/commands/*.ts', { cwd: root })) {
    const module: Record<string, (program: Command) => void> = await import(join(root, file))
    for (const [name, add] of Object.entries(module)) if (/^add.+Command$/.test(name)) add(program)
  }
  const leaves = (command: Command, path: string[]): string[] => {
    const inner = command.commands.flatMap((one) => leaves(one, [...path, one.name()]))
    return inner.length === 0 || (path[0] === 'connector' && path.length === 1) ? [path.join(' '), ...inner] : inner
  }
  const names = [...read('docs/commands.md').matchAll(/^\| `([a-z -]+?)(?= [^a-z]|`)/gm)].map(([, name = '']) => name)
  const rows = [...new Set(names)]
  const run = program.commands.find((one) => one.name() === 'jobs')?.commands.find((one) => one.name() === 'run')
  const jobs = run?.registeredArguments[0]?.argChoices ?? []
  expect(rows.sort()).toEqual([...leaves(program, []), ...jobs].sort())
})

test('docs/audit-log.md has every kind of governance events', () => {
  const page = read('docs/audit-log.md')
  expect(governanceKinds.filter((kind) => !page.includes(`\`${kind}\``))).toEqual([])
})

test('docs/audit-log.md has every change that an event names', () => {
  const sources = globSync(['server/modules/**/*.ts', 'cli/**/*.ts'], { cwd: root }).map(read).join('\n')
  const inCode = [...sources.matchAll(/(?:\bchange: |Change = )'([a-z_]+)'/g)].map(([, name = '']) => name)
  const documented = new Set([...read('docs/audit-log.md').matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))
  expect(inCode.length).toBeGreaterThan(40)
  expect([...new Set(inCode)].filter((name) => !documented.has(name))).toEqual([])
})

test('docs/service-accounts.md has a command for an account with every scope', () => {
  const lists = [...read('docs/service-accounts.md').matchAll(/--scope "([^"]+)"/g)].map(([, list = '']) =>
    list.split(' '),
  )
  expect(lists).toContainEqual(scopeNames)
})

test.each(globSync('docs/sdk/python-reference*.md', { cwd: root }))('%s is of the current sources', (page) => {
  const digest = (text: string | Buffer) => hash('sha256', text)
  const modules = globSync('sdk/python/org_memory_hub/**/*.py', { cwd: root })
  const bytewise = (a: string, b: string) => (a < b ? -1 : 1)
  const files = ['sdk/python/write_reference.py', ...modules.sort(bytewise)]
  const lines = files.map((file) => `${basename(file)} ${digest(readFileSync(join(root, file)))}\n`)
  expect(read(page), 'run python3 sdk/python/write_reference.py').toContain(digest(lines.join('')))
})
