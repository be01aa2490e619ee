import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { problems } from '../../contract/problems.ts'
import { membersOf, typeOf } from '../../docs/.vitepress/reference/schema-members.ts'
import { writeReferencePages } from '../../docs/.vitepress/reference/write-pages.ts'

interface Operation {
  operationId: string
  summary: string
  tags: string[]
}

const api: { tags: { name: string }[]; paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../golden/openapi.json'), 'utf8'),
)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hub-reference-'))
  writeReferencePages(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))
const page = (file: string) => readFileSync(join(folder, file), 'utf8')

/** Returns all pages of a tag, as one text. */
function pagesOf(tag: string): string {
  const name = tag.toLowerCase().replaceAll(' ', '-')
  const files = readdirSync(join(folder, 'api')).filter((file) => new RegExp(`^${name}(-\\d+)?\\.md$`).test(file))
  return files.map((file) => page(`api/${file}`)).join('\n')
}

describe('the API reference', () => {
  test.each(api.tags.map(({ name }) => name))('has each operation of %s', (tag) => {
    const text = pagesOf(tag)
    const list = page('api/index.md')
    let found = 0
    for (const [path, item] of Object.entries(api.paths)) {
      for (const [method, { operationId, summary, tags }] of Object.entries(item)) {
        if (!tags.includes(tag)) continue
        found++
        const section = text.split(`## ${summary}\n`)[1]
        expect(section, operationId).toContain(`${method.toUpperCase()} ${path}\n`)
        expect(section).toContain(`Operation \`${operationId}\``)
        expect(list).toContain(`\`${method.toUpperCase()} ${path}\``)
      }
    }
    expect(found).toBeGreaterThan(0)
  })

  test('has parameters, members, scopes and an example of a request', () => {
    const text = page('api/budgets.md')
    expect(text).toContain('| `limit` | query | integer | Maximum number of items of a page |')
    expect(text).toContain('| `notify.emails` | list of string')
    expect(text).toContain('| `items[].spent_usd` | number')
    expect(text).toContain('"amount_usd": 500')
    expect(page('api/hub.md')).toContain('Scopes: `hub:read`.')
  })

  test('has pages of at most 305 lines, with links between the parts of a tag', () => {
    // The list of all operations is read by looking for a word.
    const files = readdirSync(join(folder, 'api')).filter((file) => file !== 'index.md')
    expect(files.filter((file) => page(`api/${file}`).split('\n').length > 305)).toEqual([])
    expect(page('api/webhooks.md')).toContain('[part 2](webhooks-2.md)')
    expect(page('api/webhooks-2.md')).toMatch(/^# API: Webhooks, part 2\n\n.*\[part 1\]\(webhooks\.md\)/)
    expect(page('api/index.md')).toContain('](webhooks-2.md#')
  })

  test('leaves no operation out', () => {
    const texts = api.tags.map(({ name }) => pagesOf(name))
    const named = new Set(texts.join('\n').match(/(?<=Operation `)\w+/g))
    const described = Object.values(api.paths).flatMap((item) => Object.values(item))
    expect(named).toEqual(new Set(described.map(({ operationId }) => operationId)))
    expect(Object.keys(operations).filter((id) => named.has(id)).length).toBeGreaterThan(150)
  })
})

test.each(Object.entries(problems))('the page of the error %s has the text of the Hub', (slug, problem) => {
  const text = page(`errors/${slug}.md`)
  const { title, status, meaning, remedy, example } = problem
  for (const part of [`# Error: ${title}`, `HTTP ${status}`, meaning, remedy, JSON.stringify(example)]) {
    expect(text).toContain(part)
  }
  expect(page('errors/index.md')).toContain(`[${title}](${slug}.md)`)
})

test('pages without a source are removed, and equal pages stay as they are', () => {
  mkdirSync(join(folder, 'api'), { recursive: true })
  writeFileSync(join(folder, 'api/gone.md'), 'x')
  writeFileSync(join(folder, 'errors/internal.md'), 'x')
  writeReferencePages(folder)
  expect(() => page('api/gone.md')).toThrow('ENOENT')
  expect(page('errors/internal.md')).toContain('# Error: Internal error')
})

describe('the members of a schema', () => {
  const schemas = { components: { schemas: { Item: { type: 'object', properties: { id: { type: 'string' } } } } } }

  test('follow references, lists and alternatives', () => {
    const schema = {
      required: ['list'],
      properties: {
        list: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
        either: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
      },
    }
    expect(membersOf(schema, schemas).map(({ path, type, required }) => [path, type, required])).toEqual([
      ['list', 'list of object', true],
      ['list[].id', 'string', false],
      ['either', 'string (date) or null', false],
    ])
  })

  test('end at a depth, and an unknown reference is an error', () => {
    const deep = (levels: number): object => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } })
    expect(membersOf(deep(9), schemas).map(({ path }) => path)).toEqual(['a', 'a.a', 'a.a.a'])
    expect(() => typeOf({ $ref: '#/components/schemas/None' }, schemas)).toThrow('has no #/components/schemas/None')
  })

  test('name constants and choices', () => {
    expect(typeOf({ enum: ['day', null] }, schemas)).toBe('`"day"` or `null`')
    expect(typeOf({ const: 1 }, schemas)).toBe('`1`')
    expect(typeOf({ type: ['string', 'null'] }, schemas)).toBe('string or null')
    expect(typeOf({}, schemas)).toBe('any')
  })
})
