import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'

/** Compares the committed pages with the sources, without TypeDoc: it would take seconds and a second TypeScript. */

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

interface Source {
  file: string
  text: string
  body: Node[]
  comments: readonly { start: number; end: number; type: string }[]
}

const sources = new Map<string, Source>()

function sourceOf(file: string): Source {
  const text = read(file)
  const { program, comments } = parseSync(file, text)
  const source = sources.get(file) ?? { file, text, body: program.body as unknown as Node[], comments }
  sources.set(file, source)
  return source
}

/** A declaration that an entry point exports. */
interface Exported {
  name: string
  source: Source
  node: Node
  /** The statement that has the docstring. */
  statement: Node
  /** False if only its type is exported: then nobody constructs it. */
  isValue: boolean
}

const nameOf = (node: unknown) => String((node as { name?: string } | null)?.name)

/** Returns everything that a file exports, also what it exports from other files. */
function exportsOf(file: string): Exported[] {
  const source = sourceOf(file)
  return source.body.flatMap((statement): Exported[] => {
    if (!statement.type.startsWith('Export')) return []
    const from = (statement.source as { value: string } | null | undefined)?.value
    const target = from === undefined ? [] : exportsOf(join(dirname(file), from))
    const isType = statement.exportKind === 'type'
    if (statement.type === 'ExportAllDeclaration')
      return isType ? target.map((one) => ({ ...one, isValue: false })) : target
    if (statement.type !== 'ExportNamedDeclaration') return []
    const node = statement.declaration as Node | null
    if (node) return [{ name: nameOf(node.id), source, node, statement, isValue: true }]
    return (statement.specifiers as Node[]).flatMap((specifier) =>
      target
        .filter(({ name }) => name === nameOf(specifier.local))
        .map((one) => ({ ...one, isValue: one.isValue && !isType && specifier.exportKind !== 'type' })),
    )
  })
}

/** Removes the differences that formatting makes. */
function bare(text: string): string {
  return text
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/[\s;]/g, '')
    .replaceAll('"', "'")
    .replaceAll(/(?<=[=:]|^)\|/g, '')
}

/** Returns the lines that the reference has about a declaration, each after the name of its section. */
function linesOf({ name, source, node, isValue }: Exported): string[] {
  const slice = (part: unknown) => source.text.slice((part as Node).start, (part as Node).end)
  const typeOf = (part: unknown) => (part ? slice(part) : '')
  const callOf = (of: Node, called: string) => {
    const parameters = (of.params as Node[]).map(slice).join(',')
    return `${called}${typeOf(of.typeParameters)}(${parameters})${typeOf(of.returnType)}`
  }
  const memberLine = (member: Node): string[] => {
    const key = member.key as Node | undefined
    if (key === undefined || key.type === 'PrivateIdentifier' || member.accessibility === 'private') return []
    const shown = `${member.static ? 'static ' : ''}${member.computed ? `[${slice(key)}]` : slice(key)}`
    const call = member.type === 'MethodDefinition' ? (member.value as Node) : member
    if (member.kind === 'constructor') return isValue ? [callOf(call, `new ${name}`)] : []
    if (member.kind === 'get') return [`${shown}${typeOf(call.returnType)}`]
    if ('params' in call) return [callOf(call, shown)]
    const type = typeOf(member.typeAnnotation) || `: ${slice(member.value)}`
    return [`${shown}${member.optional ? '?' : ''}${type}`]
  }
  const type = node.typeAnnotation as Node | undefined
  const members = ((node.body as Node | undefined)?.body ?? type?.members) as Node[] | undefined
  if (node.type === 'FunctionDeclaration') return [callOf(node, name)]
  if (members) return members.flatMap(memberLine)
  return [`type ${name} = ${slice(type)}`]
}

/** Returns the first words of the docstring before a node, as far as they are the same on the page. */
function docstringOf({ comments, text }: Source, node: Node): string {
  const comment = comments.findLast(
    ({ end, type }) => type === 'Block' && end < node.start && text.slice(end, node.start).trim() === '',
  )
  const words = (comment ? text.slice(comment.start, comment.end) : '')
    .replaceAll(/^\s*(\/\*\*|\*\/|\*(?!\/))|\*\/$/gm, ' ')
    .replaceAll(/\s+/g, ' ')
  return /^(.*?)(\{@|@|$)/.exec(words.trim())![1]!.trim()
}

const pages = globSync('docs/sdk/typescript-reference*.md', { cwd: root }).sort()
const texts = pages.map(read)
const isApiType = ({ source }: Exported) => source.file === 'sdk/typescript/src/types.ts'

/** The exports of each entry point. Those of the later ones that an earlier one has are only named. */
const entries = Object.values(
  JSON.parse(read('sdk/typescript/package.json')).exports as Record<string, { types?: string }>,
)
const exported = entries
  .flatMap(({ types }) => (types ? [types.replace('./dist/', '').replace('.d.ts', '.ts')] : []))
  .flatMap((file) => exportsOf(file))
const declared = [...new Map(exported.map((one) => [one.node, one])).values()]

test('the TypeScript SDK reference has every export and member with its signature, and no other', () => {
  expect(declared.length).toBeGreaterThan(60)
  const sections = texts.flatMap((text) => text.split(/^#{2,3} /m).slice(1))
  const written = sections.flatMap((section) => {
    const [heading = ''] = section.split('\n', 1)
    const rows = [...section.matchAll(/^\| `(.*?)` \|/gm)].map(([, row = '']) => row.replaceAll('\\|', '|'))
    const calls = [...section.matchAll(/^```ts\n(.*)\n```/gm)].map(([, call = '']) => call)
    if (heading === 'Types of the API') return rows.map((row) => `type ${row}`)
    return [...rows, ...calls].map((line) => bare(`${heading}: ${line}`))
  })
  const expected = declared.flatMap((one) =>
    isApiType(one) ? [`type ${one.name}`] : linesOf(one).map((line) => bare(`${one.name}: ${line}`)),
  )
  expect(written.sort(), 'run npm run docs:sdk').toEqual(expected.sort())
})

test('the TypeScript SDK reference has the docstrings of the sources', () => {
  const text = texts.join('\n').replaceAll(/\s+/g, ' ')
  const nodes = declared
    .filter((one) => !isApiType(one))
    .flatMap(({ source, node, statement }) => {
      const members = ((node.body as Node | undefined)?.body ?? []) as Node[]
      const isPublic = ({ key }: Node) => (key as Node | undefined)?.type !== 'PrivateIdentifier'
      const shown = node.type === 'FunctionDeclaration' ? [] : members.filter(isPublic)
      return [statement, ...shown].map((each) => docstringOf(source, each))
    })
    .filter((words) => words !== '')
  expect(nodes.length).toBeGreaterThan(100)
  expect(
    nodes.filter((words) => !text.includes(words)),
    'run npm run docs:sdk',
  ).toEqual([])
})

test('every page of the TypeScript SDK reference has at most 305 lines', () => {
  expect(pages).toHaveLength(3)
  expect(pages.filter((page) => read(page).split('\n').length > 305)).toEqual([])
})
