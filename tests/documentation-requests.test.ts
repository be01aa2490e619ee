import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { snippetsOf } from './support/page-snippets.ts'
import { requestsIn, type ShellRequest } from './support/shell-requests.ts'

interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: object }> }
}

const root = resolve(import.meta.dirname, '..')
const document = JSON.parse(readFileSync(join(root, 'tests/golden/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties: object; required: string[] }> }
}
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'api')

/** Addresses that the OpenAPI document does not list, because they are other protocols. */
const elsewhere = ['/mcp', '/api/v1/webhooks/inbound/', '/scim/']

/** Other tests run every line of these. */
const executed = ['docs/tour*.md', 'docs/connector-developer.md', 'docs/mode-c.md', 'docs/start/developer.md']
const pages = globSync('docs/**/*.md', { cwd: root, exclude: executed }).sort()
const shown = pages.flatMap((page) =>
  snippetsOf(page)
    .filter(({ name }) => /: sh( \d+)?$/.test(name))
    .flatMap(({ name, code }) => requestsIn(code).map((request) => ({ page, name, request }))),
)

/** Returns the path template of a request, and the segments that it fills in. */
function templateOf(path: string): string | undefined {
  const matches = Object.keys(document.paths).filter((template) =>
    new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+')}$`).test(path),
  )
  // A literal segment counts more than a parameter.
  return matches.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

/** Returns what the API would refuse about a request. */
function problemsOf({ method, path, query, body }: ShellRequest): string[] {
  const template = templateOf(path)
  const operation = template && document.paths[template]?.[method.toLowerCase()]
  if (!template || !operation) return [`no operation is ${method} ${path}`]
  const known = (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
  const unknown = [...query.keys()].filter((name) => !known.includes(name)).map((name) => `unknown parameter ${name}`)
  if (body === undefined || !operation.requestBody?.content['application/json']) return unknown
  const pointer = `${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}`
  const validate = ajv.getSchema(
    `api#/paths/${encodeURIComponent(pointer).replaceAll('%2F', '/')}/requestBody/content/application~1json/schema`,
  )!
  if (validate(JSON.parse(body))) return unknown
  return [...unknown, ...validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)]
}

test('requests are found in the pages', () => {
  expect(shown.length).toBeGreaterThan(60)
  expect(
    requestsIn(`A=$(call -X PUT $HUB/api/v1/tenant -d '{"a": "'$B'"}' | field x)\ncurl -G "$HUB/x?a=1" -d b=2`),
  ).toEqual([
    {
      method: 'PUT',
      path: '/api/v1/tenant',
      query: new URLSearchParams(),
      body: expect.stringMatching(/^{"a": "[\w-]{36}"}$/),
    },
    { method: 'GET', path: '/x', query: new URLSearchParams('a=1&b=2'), body: undefined },
  ])
})

test.each(pages.filter((page) => shown.some((one) => one.page === page)))(
  '%s: the API knows each request, with its parameters and members',
  (page) => {
    const problems = shown
      .filter((one) => one.page === page && !elsewhere.some((prefix) => one.request.path.startsWith(prefix)))
      .flatMap(({ name, request }) => {
        return problemsOf(request).map((problem) => `${name}: ${request.method} ${request.path}: ${problem}`)
      })
    expect(problems).toEqual([])
  },
)

test.each([
  ['Decision', 'Members of a decision'],
  ['Output', 'Members of an output'],
  ['Artifact', 'Members of an artifact'],
  ['GovernanceEvent', 'Record a custom event'],
])('docs/write-records.md has the members of %s', (name, heading) => {
  const page = readFileSync(join(root, 'docs/write-records.md'), 'utf8')
  const section = page.split('\n## ').find((text) => text.startsWith(`${heading}\n`))!
  const rows = [...section.matchAll(/^\| `(\w+)` \| (required|optional) \|/gm)].map(([, member, need]) => [
    member,
    need,
  ])
  const { properties, required } = document.components.schemas[name]!
  const members = Object.keys(properties).filter((member) => member !== 'record_type')
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(members.map((member) => [member, required.includes(member) ? 'required' : 'optional'])),
  )
})

test('a request that the API does not know is found', () => {
  const of = (code: string) => requestsIn(code).flatMap(problemsOf)
  expect(of('call $HUB/api/v1/hub/recordz')).toEqual(['no operation is GET /api/v1/hub/recordz'])
  expect(of('call "$HUB/api/v1/hub/records?colour=red"')).toEqual(['unknown parameter colour'])
  expect(of(`call $HUB/api/v1/budgets -d '{"name": "x"}'`)).toContain(" must have required property 'period'")
})
