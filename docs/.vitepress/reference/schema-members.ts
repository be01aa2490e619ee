/** A JSON Schema of the OpenAPI document, with the keywords that the reference shows. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Member {
  /** For example `notify.emails` or `items[].name`. */
  path: string
  type: string
  required: boolean
  description: string
}

interface Schemas {
  components: { schemas: Record<string, Schema> }
}

/** Members deeper than this are left to the description of their parent. */
const depthMax = 3

/** Returns the members of an object or of the items of a list, parents before their members. */
export function membersOf(schema: Schema, api: Schemas, prefix = '', depth = 0): Member[] {
  const resolved = resolve(schema, api)
  if (resolved.items) return membersOf(resolved.items, api, `${prefix}[]`, depth)
  const members = Object.entries(resolved.properties ?? {}).flatMap(([name, value]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const { description = '' } = { ...resolve(value, api), ...value }
    const own = { path, type: typeOf(value, api), required: resolved.required?.includes(name) ?? false, description }
    return [own, ...(depth + 1 < depthMax ? membersOf(value, api, path, depth + 1) : [])]
  })
  const seen = new Set<string>()
  const alternatives = (resolved.anyOf ?? resolved.oneOf ?? resolved.allOf ?? []).flatMap((one) =>
    membersOf(one, api, prefix, depth),
  )
  return [...members, ...alternatives].filter(({ path }) => !seen.has(path) && seen.add(path))
}

/** Returns the type in words, for example `list of string` or `"day" or "week"`. */
export function typeOf(schema: Schema, api: Schemas): string {
  const { type, format, enum: values, const: value, items, anyOf, oneOf } = resolve(schema, api)
  if (value !== undefined) return `\`${JSON.stringify(value)}\``
  if (values) return values.map((one) => `\`${JSON.stringify(one)}\``).join(' or ')
  if (items) return `list of ${typeOf(items, api)}`
  const alternatives = anyOf ?? oneOf
  if (alternatives) return [...new Set(alternatives.map((one) => typeOf(one, api)))].join(' or ')
  return `${[type ?? 'any'].flat().join(' or ')}${format === undefined ? '' : ` (${format})`}`
}

function resolve(schema: Schema, api: Schemas): Schema {
  if (schema.$ref === undefined) return schema
  const name = schema.$ref.replace('#/components/schemas/', '')
  const target = api.components.schemas[name]
  if (target === undefined) throw new Error(`The OpenAPI document has no ${schema.$ref}`)
  return resolve(target, api)
}
