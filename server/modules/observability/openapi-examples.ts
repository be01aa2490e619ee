/** The parts of JSON Schema that an example can be made from. */
interface SchemaParts {
  type?: string
  format?: string
  const?: unknown
  default?: unknown
  enum?: unknown[]
  examples?: unknown[]
  anyOf?: SchemaParts[]
  oneOf?: SchemaParts[]
  allOf?: SchemaParts[]
  items?: SchemaParts
  properties?: Record<string, SchemaParts>
  required?: string[]
}

const byFormat: Record<string, string> = {
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  'date-time': '2026-01-31T12:00:00.000000Z',
  uri: 'https://example.com/',
  email: 'someone@example.com',
}
const byType: Record<string, unknown> = { string: 'text', integer: 1, number: 1, boolean: true, null: null }

/**
 * Returns an example of a schema: its own first one, else a combination of those of its parts. It includes optional
 * members that have an example. A test checks that it is valid, so a more complex schema must have `examples`.
 */
export function exampleOf(schema: SchemaParts): unknown {
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum?.length) return schema.enum[0]
  const branch = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (branch) return exampleOf(branch)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(exampleOf))
  if (schema.type === 'object') return exampleOfObject(schema)
  if (schema.type === 'array') return schema.items ? [exampleOf(schema.items)] : []
  if (schema.type === 'string' && schema.format) return byFormat[schema.format]
  return schema.type === undefined ? {} : byType[schema.type]
}

function exampleOfObject({ properties = {}, required = [] }: SchemaParts): unknown {
  const shown = Object.entries(properties).filter(([name, part]) => required.includes(name) || hasExample(part))
  return Object.fromEntries(shown.map(([name, part]) => [name, exampleOf(part)]))
}

function hasExample(schema: SchemaParts): boolean {
  return Boolean(schema.examples?.length) || schema.const !== undefined || schema.default !== undefined
}
