/** An OpenAPI 3.1 document, as plain JSON. */
export interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, Record<string, unknown>>>
  [member: string]: unknown
}

type Json = null | boolean | number | string | Json[] | Schema
type Schema = { [member: string]: Json }

/** Members whose values are data, so a `title` in them names no schema. */
const data = new Set(['example', 'examples', 'value', 'default', 'const', 'enum'])

/**
 * Moves each schema with a title to the components and leaves a reference. Generators then name it, and a union with a
 * discriminator refers to its branches.
 *
 * @throws Error if two different schemas have one title
 */
export function withNamedSchemas(document: OpenApiDocument): OpenApiDocument {
  const named: Record<string, Schema> = {}

  function moved(value: Json, isNames = false): Json {
    if (Array.isArray(value)) return value.map((each) => moved(each))
    if (value === null || typeof value !== 'object') return value
    const schema = Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        if (!isNames && data.has(name)) return [name, member]
        return [name, moved(member, !isNames && name === 'properties')]
      }),
    )
    return !isNames && typeof schema.title === 'string' ? referenceTo(schema.title, withMapping(schema)) : schema
  }

  function referenceTo(title: string, schema: Schema): Schema {
    const name = componentName(title)
    const known = named[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas of the API have the title ${title}`)
    }
    named[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }

  function withMapping(schema: Schema): Schema {
    if (schema.discriminator === undefined) return schema
    const { propertyName } = schema.discriminator as { propertyName: string }
    const mapping = (schema.oneOf as { $ref: string }[]).map(({ $ref }) => {
      const branch = named[$ref.slice($ref.lastIndexOf('/') + 1)] as Record<string, Record<string, Schema>>
      return [String(branch.properties?.[propertyName]?.const), $ref]
    })
    return { ...schema, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
  }

  const paths = moved(document.paths as Schema) as OpenApiDocument['paths']
  const webhooks = moved(document.webhooks as Schema)
  const components = document.components as { schemas: Schema }
  return { ...document, paths, webhooks, components: { ...components, schemas: { ...components.schemas, ...named } } }
}

/** Converts `Skill definition` to `SkillDefinition`. */
function componentName(title: string): string {
  return title.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** Control, format and private-use characters of the Basic Multilingual Plane. */
const invisible =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e' +
  '\\u2060-\\u206f\\ue000-\\uf8ff\\ufeff\\ufff9-\\ufffb'

/**
 * Returns a pattern in the syntax that JavaScript, Python and Java share. They do not share `\p{C}`, which the service
 * checks. The result lists the characters of that class that text may contain, without those that Unicode has not
 * assigned.
 */
export function portablePattern(pattern: string): string {
  return pattern.replaceAll('\\p{C}', invisible)
}
