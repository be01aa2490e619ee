import type { Schema } from './api-description.ts'
import { oddValue } from './odd-values.ts'
import type { Random } from './random.ts'

/** Values by name that mean something to the running service, such as ids that exist. */
export type NamedValues = (name: string, random: Random) => unknown

/** A value that fits the schema, with names the service knows where there are some. */
export function sampleOf(schema: Schema, random: Random, named: NamedValues, name = ''): unknown {
  if (schema.const !== undefined) return schema.const
  const known = named(name, random)
  if (known !== undefined && !isCollection(schema)) return known
  const branches = schema.oneOf ?? schema.anyOf
  if (branches) return sampleOf(random.pick(branches), random, named, name)
  if (schema.enum) return random.pick(schema.enum)
  switch (schema.type) {
    case 'object':
      return sampleObject(schema, random, named)
    case 'array':
      return Array.from({ length: random.int(Math.max(schema.minItems ?? 0, 0), 3) }, () =>
        sampleOf(schema.items ?? {}, random, named, name),
      )
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return sampleNumber(schema, random)
    case 'null':
      return null
    case 'string':
      return random.pick((schema.examples as string[] | undefined) ?? ['text'])
    default:
      return random.chance(0.5) ? (schema.examples?.[0] ?? 'text') : harmless(oddValue(random))
  }
}

function isCollection(schema: Schema): boolean {
  return schema.type === 'array' || schema.type === 'object'
}

function sampleObject(schema: Schema, random: Random, named: NamedValues): Record<string, unknown> {
  const required = new Set(schema.required ?? [])
  const members = Object.entries(schema.properties ?? {})
    .filter(([name]) => required.has(name) || random.chance(0.4))
    .map(([name, property]) => [name, sampleOf(property, random, named, name)])
  for (const member of Object.values(schema.patternProperties ?? {})) {
    members.push([`k${random.int(1, 9)}`, sampleOf(member, random, named)])
  }
  return Object.fromEntries(members)
}

function sampleNumber(schema: Schema, random: Random): number {
  const min = schema.minimum ?? (schema.exclusiveMinimum ?? -1) + 1
  const max = schema.maximum ?? (schema.exclusiveMaximum ?? 1001) - 1
  const example = schema.examples?.[0]
  if (typeof example === 'number' && random.chance(0.6)) return example
  return random.pick([min, Math.min(max, min + 1), max])
}

/** Free JSON content that is odd, but not against the rules for all JSON. */
function harmless(value: unknown): unknown {
  const text = JSON.stringify(value) ?? 'null'
  const isOdd = /\\u0000|\\ud[89a-f]|__proto__|\d{16}|e[+-]?\d{3}/i.test(text) || text.split(/[[{]/).length > 40
  return isOdd ? null : value
}
