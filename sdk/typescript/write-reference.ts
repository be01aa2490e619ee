/**
 * A plugin of TypeDoc that writes docs/sdk/typescript-reference*.md from the exports, types and docstrings of the package:
 *
 *     npm run docs:sdk
 *
 * Types are shown as the source writes them: TypeDoc's own pages repeat every member of every type of the API.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of TypeDoc that the pages need. The repository has no TypeDoc: it cannot read types with TypeScript 7. */
interface App {
  converter: {
    on(event: 'createDeclaration', listener: (context: Context, reflection: Reflection) => void): void
    on(
      event: 'createSignature',
      listener: (context: Context, reflection: Reflection, declaration?: Declaration) => void,
    ): void
  }
  outputs: {
    addOutput(name: string, write: (folder: string, project: Reflection) => Promise<void>): void
    setDefaultOutputName(name: string): void
  }
}

interface Context {
  getSymbolFromReflection(reflection: Reflection): { declarations?: Declaration[] } | undefined
}

/** A node of TypeScript's syntax tree. */
interface Declaration {
  type?: { getText(): string }
  parameters?: { getText(): string }[]
  typeParameters?: { getText(): string }[]
  jsDoc?: { tags?: { tagName: { text: string }; typeExpression?: { type: { getText(): string } } }[] }[]
}

interface Reflection {
  name: string
  kind: number
  comment?: { summary: CommentPart[]; blockTags: { tag: string; content: CommentPart[] }[] }
  children?: Reflection[]
  signatures?: Reflection[]
  getSignature?: Reflection
  type?: { toString(): string }
  extendedTypes?: { toString(): string }[]
  inheritedFrom?: unknown
  flags: { isOptional: boolean; isStatic: boolean }
}

interface CommentPart {
  kind: 'text' | 'code' | 'inline-tag' | 'relative-link'
  text: string
}

const constructorKind = 512
const referenceKind = 4_194_304

/** The source of each declaration and signature. */
const declarations = new Map<Reflection, Declaration>()

/** Called by TypeDoc. */
export function load({ converter, outputs }: App): void {
  converter.on('createDeclaration', (context, reflection) => {
    const declaration = context.getSymbolFromReflection(reflection)?.declarations?.[0]
    if (declaration) declarations.set(reflection, declaration)
  })
  converter.on('createSignature', (_, reflection, declaration) => {
    if (declaration) declarations.set(reflection, declaration)
  })
  outputs.addOutput('reference', async (folder, project) => writePages(folder, project.children ?? []))
  outputs.setDefaultOutputName('reference')
}

function writePages(folder: string, modules: readonly Reflection[]): void {
  const { name, exports } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, string | { types: string }>
  }
  const [main, ...others] = Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === 'string') return []
    const source = target.types.replace('./dist/sdk/typescript/src/', '').replace('.d.ts', '')
    const module = modules.find((one) => one.name === source)
    if (!module) throw new Error(`TypeDoc has no module ${source}`)
    return [{ entry: `${name}${entry.slice(1)}`, exported: module.children ?? [] }]
  })
  if (!main) throw new Error('package.json has no exports')
  const isClass = ({ children = [] }: Reflection) => children.some((child) => callsOf(child).length > 0)
  const first = (one: Reflection) => (one.name === 'HubClient' ? 0 : 1)
  const classes = main.exported.filter(isClass).sort((a, b) => first(a) - first(b))
  const types = main.exported.filter((one) => !classes.includes(one) && !isOfApi(one))
  const pages = {
    'typescript-reference.md': [
      '# TypeScript SDK reference',
      `The classes of \`${name}\`. Further pages: [types](typescript-reference-types.md) of arguments and results,
[webhooks and verification](typescript-reference-verify.md). The [guide](../../sdk/typescript/README.md) shows how to use them.`,
      ...classes.map((one) => sectionOf(one, '##')),
    ],
    'typescript-reference-types.md': [
      '# TypeScript SDK reference: types',
      `The types of \`${name}\`. [Classes](typescript-reference.md) use them.`,
      ...types.map((one) => sectionOf(one, '##')),
      ...['## Types of the API', 'Bodies and parameters of operations. The API reference lists their members.'],
      tableOf('Type', 'Source', main.exported.filter(isOfApi).map(apiTypeOf)),
    ],
    'typescript-reference-verify.md': [
      '# TypeScript SDK reference: webhooks and verification',
      'The other entry points of the package. The [guide](../../sdk/typescript/README.md) shows how to use them.',
      ...others.flatMap(({ entry, exported }) => [`## ${entry}`, ...sectionsOf(exported)]),
    ],
  }
  for (const [file, parts] of Object.entries(pages)) writeFileSync(join(folder, file), `${parts.join('\n\n')}\n`)
}

const callsOf = ({ signatures = [] }: Reflection) => signatures

function sectionsOf(exported: readonly Reflection[]): string[] {
  const again = exported.filter(({ kind }) => kind === referenceKind).map(({ name }) => `\`${name}\``)
  const own = exported.filter(({ kind }) => kind !== referenceKind).map((one) => sectionOf(one, '###'))
  return again.length === 0 ? own : [...own, `The same as above: ${again.join(', ')}.`]
}

/** Returns true for the names that the package gives to types of the OpenAPI document. */
function isOfApi(one: Reflection): boolean {
  return one.comment === undefined && /^(Schemas\[|(Body|Result|Query)Of<|SearchPage\[)/.test(typeOf(one))
}

function apiTypeOf(one: Reflection): [string, string] {
  const [, kind, name] = /^(\w+)[<[]'(\w+)'/.exec(typeOf(one)) ?? []
  const parts: Record<string, string> = {
    Schemas: 'Schema',
    BodyOf: 'Body of operation',
    ResultOf: 'Response of operation',
    QueryOf: 'Query parameters of operation',
  }
  const part = parts[kind ?? '']
  return [one.name, part === undefined ? `\`${typeOf(one)}\`` : `${part} \`${name}\``]
}

function sectionOf(one: Reflection, level: '##' | '###'): string {
  const { name, extendedTypes = [], children = [] } = one
  const own = children.filter(({ inheritedFrom }) => inheritedFrom === undefined)
  const calls = callsOf(one)
  const members = own.filter((child) => child.kind !== constructorKind)
  const isAlias = calls.length === 0 && children.length === 0
  return [
    `${level} ${name}`,
    textOf(one),
    ...calls.flatMap((call) => [textOf(call), code(callOf(call, name))]),
    extendedTypes.length === 0 ? '' : `Extends ${extendedTypes.map((each) => `\`${each}\``).join(', ')}.`,
    isAlias ? code(`type ${name} = ${typeOf(one)}`) : '',
    ...own
      .filter((child) => child.kind === constructorKind)
      .flatMap(callsOf)
      .map((call) => code(callOf(call, `new ${name}`))),
    members.length === 0 ? '' : tableOf('Member', 'Meaning', members.map(memberOf)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function memberOf(member: Reflection): [string, string] {
  const { flags, getSignature } = member
  const name = `${flags.isStatic ? 'static ' : ''}${member.name.replace(/^\[(\w+)\]$/, '[Symbol.$1]')}`
  const [call] = callsOf(member)
  if (call) return [callOf(call, name), textOf(call)]
  const shown = getSignature ?? member
  return [`${name}${flags.isOptional ? '?' : ''}: ${typeOf(shown)}`, textOf(shown)]
}

/** Returns the source of a call without its body, for example `get<T>(path: string): Promise<T>`. */
function callOf(call: Reflection, name: string): string {
  const { parameters = [], typeParameters = [], type } = declarations.get(call) ?? {}
  const types = typeParameters.map((each) => each.getText()).join(', ')
  const result = type ? `: ${type.getText()}` : ''
  return oneLine(`${name}${types && `<${types}>`}(${parameters.map((each) => each.getText()).join(', ')})${result}`)
}

/** Returns the type that the source declares, else the one that TypeScript infers. */
function typeOf(one: Reflection): string {
  return oneLine(declarations.get(one)?.type?.getText() ?? String(one.type))
}

/** Returns the docstring, with its `@throws`. */
function textOf(one: Reflection): string {
  if (!one.comment) return ''
  // TypeDoc drops the types of `@throws {Type}`.
  const tags = declarations.get(one)?.jsDoc?.flatMap(({ tags = [] }) => tags) ?? []
  const types = tags.filter(({ tagName }) => tagName.text === 'throws').map(({ typeExpression }) => typeExpression)
  const thrown = one.comment.blockTags
    .filter(({ tag }) => tag === '@throws')
    .map(({ content }, index) => {
      const type = types[index] ? ` \`${types[index].type.getText()}\`` : ''
      return `Throws${type} ${joined(content)}.`.replace(' ;', ';')
    })
  return [joined(one.comment.summary), ...thrown].filter((text) => text !== '').join(' ')
}

function joined(parts: readonly CommentPart[]): string {
  const texts = parts.map(({ kind, text }) => (kind === 'inline-tag' ? `\`${text}\`` : text))
  return texts.join('').trim()
}

function tableOf(first: string, second: string, rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(([name, text]) => `| \`${cell(name)}\` | ${cell(text)} |`)
  return [`| ${first} | ${second} |`, '|---|---|', ...lines].join('\n')
}

function code(text: string): string {
  return `\`\`\`ts\n${text}\n\`\`\``
}

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

/** Returns source text in one line: without comments, with `;` for line ends between members. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/(?<![{|&,(;\s])\s*\n\s*(?=[\w'"])/g, '; ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^ ?\| /, '')
    .trim()
}
