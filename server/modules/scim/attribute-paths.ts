import type { AttributeDefinition, ResourceDefinition } from './schema-types.ts'

/** Where an attribute is: `name.familyName`, or `urn:…:enterprise:2.0:User:manager.value`. */
export interface AttributePath {
  /** URN of the extension that it is of; undefined in the core schema. */
  extension?: string | undefined
  attribute: AttributeDefinition
  sub?: AttributeDefinition | undefined
}

type Names = ReadonlyMap<string, AttributeDefinition>

/** Looks attributes up by name, whatever its case. Names come from outside, so these are maps and not objects. */
const namesOf = remember((list: readonly AttributeDefinition[]): Names => {
  return new Map(list.map((each) => [each.name.toLowerCase(), each]))
})

/** @returns the attribute of that name, or undefined */
export function attributeNamed(
  list: readonly AttributeDefinition[] | undefined,
  name: string,
): AttributeDefinition | undefined {
  return list && namesOf(list).get(name.toLowerCase())
}

/**
 * Finds the attribute that a path names (RFC 7644, figure 1, `attrPath`): with or without the URN of its schema, at most
 * one sub-attribute deep. What extends a resource is found without its URN too, where the core schema has no such name.
 *
 * @returns undefined when there is none
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

/** The extension that a text names, whole: the key of its attributes in a resource. */
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

/** A function of an object that is asked for the same few objects for ever. */
function remember<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make(key)
    known.set(key, made)
    return made
  }
}
