import type { AttributeDefinition, ResourceDefinition } from './schema-types.ts'

/** The path of an attribute: `name.familyName`, or `urn:…:enterprise:2.0:User:manager.value`. */
export interface AttributePath {
  /** URN of its extension; undefined in the core schema. */
  extension?: string | undefined
  attribute: AttributeDefinition
  sub?: AttributeDefinition | undefined
}

/** Attributes by name in lower case. Names are untrusted, so they are looked up in a map and not in an object. */
const namesOf = new WeakMap<readonly AttributeDefinition[], ReadonlyMap<string, AttributeDefinition>>()

/** @returns the attribute with that name, or undefined */
export function attributeNamed(
  list: readonly AttributeDefinition[] | undefined,
  name: string,
): AttributeDefinition | undefined {
  if (!list) return undefined
  const names = namesOf.get(list) ?? new Map(list.map((each) => [each.name.toLowerCase(), each]))
  namesOf.set(list, names)
  return names.get(name.toLowerCase())
}

/**
 * Finds the attribute of a path (RFC 7644, figure 1, `attrPath`), with or without the URN of its schema and at most one
 * sub-attribute deep. An attribute of an extension is also found without its URN, if the core schema has no such name.
 *
 * @returns undefined for an unknown attribute
 */
export function findAttribute(resource: ResourceDefinition, text: string): AttributePath | undefined {
  const schema = schemaBefore(resource, text)
  const isExtension = schema !== undefined && schema !== resource.schema
  const names = (schema ? text.slice(schema.id.length + 1) : text).split('.', 3)
  const [name = '', subName] = names
  if (names.length > 2 || name === '' || subName === '') return undefined
  const found = isExtension
    ? { extension: schema.id, attribute: attributeNamed(schema.attributes, name) }
    : ofCoreOrExtension(resource, name)
  const { attribute, extension } = found ?? {}
  if (attribute === undefined) return undefined
  if (subName === undefined) return { extension, attribute }
  const sub = attributeNamed(attribute.subAttributes, subName)
  return sub && { extension, attribute, sub }
}

/** Returns the extension whose full URN the text is: the key of its attributes in a resource. */
export function extensionNamed(resource: ResourceDefinition, text: string) {
  const name = text.toLowerCase()
  return resource.extensions.find((schema) => schema.id.toLowerCase() === name)
}

function schemaBefore(resource: ResourceDefinition, text: string) {
  if (!/^urn:/i.test(text)) return undefined
  const lower = text.toLowerCase()
  return [resource.schema, ...resource.extensions].find((schema) => lower.startsWith(`${schema.id.toLowerCase()}:`))
}

function ofCoreOrExtension(resource: ResourceDefinition, name: string) {
  const core = attributeNamed(resource.schema.attributes, name) ?? attributeNamed(resource.common, name)
  if (core) return { extension: undefined, attribute: core }
  for (const schema of resource.extensions) {
    const attribute = attributeNamed(schema.attributes, name)
    if (attribute) return { extension: schema.id, attribute }
  }
  return undefined
}
