import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { hubVariables } from '../cli/hub-address.ts'
import { snippetsOf } from './support/page-snippets.ts'

/** Other tests run the code of the pages; here is which. tests/documentation-shell.test.ts has the commands. */

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The test that runs the code of a page in a language. */
const run: Readonly<Record<string, string>> = {
  'docs/agents.md: json': 'tests/documentation-snippets.test.ts',
  'docs/exports.md: sql': 'tests/exports/duckdb.test.ts',
  'docs/mode-c.md: json': 'tests/telemetry/connector-page.test.ts',
  'docs/connector-developer.md: ts': 'tests/telemetry/connector-page.test.ts',
  'docs/opentelemetry.md: json': 'tests/otlp/page-snippets.test.ts',
  'docs/opentelemetry.md: toml': 'tests/otlp/page-snippets.test.ts',
  'docs/opentelemetry.md: ts': 'tests/otlp/page-snippets.test.ts',
  'docs/receive-skills.md: json': 'tests/api/get-manifest.test.ts',
  'docs/receive-skills.md: ts': 'tests/api/get-manifest.test.ts',
  'docs/scaling.md: ini': 'tests/pgbouncer/pgbouncer.test.ts',
  'docs/scaling.md: sql': 'tests/pgbouncer/pgbouncer.test.ts',
  'docs/tour-audit.md: json': 'tests/full/tour.test.ts',
  'docs/tour-read.md: json': 'tests/full/tour.test.ts',
  'docs/tour.md: json': 'tests/full/tour.test.ts',
  'docs/verification.md: ts': 'tests/full/documentation-shell.test.ts',
  'docs/webhook-receiver.md: python': 'sdk/python/tests/test_package.py',
  'docs/webhook-receiver.md: ts': 'tests/webhooks/page-snippets.test.ts',
  'sdk/python/README.md: python': 'sdk/python/tests/test_package.py',
  'sdk/typescript/README.md: ts': 'tests/full/sdk/readme-snippets.test.ts',
}

const printed = 'Printed by the command above it, which tests/full/documentation-shell.test.ts runs.'

/** Code that no test runs, and why. */
const notRun: Readonly<Record<string, string>> = {
  'docs/auditor.md: json': printed,
  'docs/command-center.md: json': printed,
  'docs/monitoring.md: json': printed,
  'docs/onboarding.md: json': printed,
  'docs/high-availability.md: yaml': 'Settings of Patroni. tests/full/failover.test.ts promotes a standby without it.',
  'docs/keys.md: sql': 'Needs an administrator of a server; the Hub only reads the new URL at its next start.',
  'docs/operator.md: sql':
    'Roles are of a whole server. tests/support/cluster.ts creates the same by the code of the Hub.',
  'docs/provenance.md: json': 'The form of a document. tests/provenance/verify.test.ts has real ones.',
  'docs/provenance.md: ts': 'The first lines of the program of docs/verification.md, which is run.',
}

const pages = globSync(['*.md', 'docs/**/*.md', '{bench,demo,deploy,examples,sdk}/**/*.md'], {
  cwd: root,
  // The references have declarations.
  exclude: ['docs/reference/**', 'docs/sdk/*-reference*.md', 'docs/adr/**', 'CHANGELOG.md', '**/node_modules/**'],
})
/** Each page with each language of its blocks, apart from commands and their output. */
const shown = pages.flatMap((page) => {
  const languages = [...read(page).matchAll(/^ *```(\w*)[^\n]*\n[\s\S]*?^ *```$/gm)].map(([, language]) => language)
  return [...new Set(languages)].filter((one) => one !== 'sh' && one !== 'text').map((one) => `${page}: ${one}`)
})

test('code of a page is run by a test, or a reason says why not', () => {
  expect(shown.sort()).toEqual([...Object.keys(run), ...Object.keys(notRun)].sort())
})

test.each(Object.entries(run))('%s is run by %s', (code, file) => {
  const [page = ''] = code.split(': ')
  expect([page, basename(page), 'tours.map'].some((name) => read(file).includes(name))).toBe(true)
})

test('the reasons name files that exist', () => {
  const files = Object.values(notRun).flatMap((reason) => reason.match(/(?:tests|docs)\/[\w./-]*\w/g) ?? [])
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

test('the settings of docs/agents.md for an agent start a command with the variables that it needs', () => {
  const [settings] = snippetsOf('docs/agents.md').filter(({ name }) => name.endsWith(': json'))
  const [server] = Object.values(JSON.parse(settings!.code).mcpServers) as { args: string[]; env: object }[]
  const [program = '', ...words] = server!.args
  expect(existsSync(join(root, program.replace('/path/to/org-memory-hub/', '')))).toBe(true)
  expect([words, Object.keys(server!.env)]).toEqual([['mcp'], hubVariables])
})
