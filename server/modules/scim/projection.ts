import { isJsonObject, type JsonObject, type JsonValue } from '../../../provenance/json.ts'
import { type AttributePath, findAttribute } from './attribute-paths.ts'
import type { ResourceDefinition } from './schema-types.ts'

/** Selects the attributes of a response (RFC 7644, section 3.9). `schemas` and `id` are always included. */
export interface Projection {
  /** Returns whether any part of an attribute is included. */
  includes(name: string): boolean
  of(resource: JsonObject): JsonObject
}

/**
 * Creates the projection of a request.
 *
 * @param attributes comma-separated paths of `attributes`; unknown ones select nothing
 * @param excluded paths of `excludedAttributes`, used only without `attributes`
 */
export function projectionOf(
  resource: ResourceDefinition,
  attributes: string | undefined,
  excluded: string | undefined,
): Projection {
  if (attributes !== undefined && attributes.trim() !== '') return only(resource, pathsOf(resource, attributes))
  const without = pathsOf(resource, excluded ?? '')
  return { includes: (name) => !without.some((path) => isWhole(path, name)), of: (value) => except(value, without) }
}

function pathsOf(resource: ResourceDefinition, list: string): AttributePath[] {
  const found = list.split(',').map((text) => findAttribute(resource, text.trim()))
  return found.filter((path): path is AttributePath => path !== undefined && path.attribute.returned !== 'always')
}

function only(resource: ResourceDefinition, paths: readonly AttributePath[]): Projection {
  return {
    includes: (name) => paths.some((path) => path.attribute.name === name),
    of(value) {
      const kept: Record<string, JsonValue> = {}
      for (const { name, returned } of resource.common) {
        if (returned === 'always' && value[name] !== undefined) kept[name] = value[name]
      }
      for (const path of paths) keep(kept, value, path)
      return kept
    },
  }
}

function keep(kept: Record<string, JsonValue>, from: JsonObject, { extension, attribute, sub }: AttributePath): void {
  if (extension !== undefined) {
    const below = from[extension]
    if (!isJsonObject(below)) return
    const keptBelow: Record<string, JsonValue> = { ...(kept[extension] as JsonObject | undefined) }
    keep(keptBelow, below, { attribute, sub })
    if (Object.keys(keptBelow).length > 0) kept[extension] = keptBelow
    return
  }
  const value = from[attribute.name]
  if (value === undefined) return
  kept[attribute.name] = sub ? partsOf(value, kept[attribute.name], sub.name) : value
}

/** Returns the selected part, merged with the parts that earlier paths selected. */
function partsOf(value: JsonValue, kept: JsonValue | undefined, name: string): JsonValue {
  if (Array.isArray(value)) {
    const earlier = Array.isArray(kept) ? (kept as readonly JsonValue[]) : []
    return (value as readonly JsonValue[]).map((each, at) => partsOf(each, earlier[at], name))
  }
  const parts: Record<string, JsonValue> = { ...(isJsonObject(kept) ? kept : {}) }
  if (isJsonObject(value) && value[name] !== undefined) parts[name] = value[name]
  return parts
}

function except(value: JsonObject, paths: readonly AttributePath[]): JsonObject {
  if (paths.length === 0) return value
  const kept: Record<string, JsonValue> = { ...value }
  for (const { extension, attribute, sub } of paths) {
    const holder = extension === undefined ? kept : { ...(kept[extension] as JsonObject | undefined) }
    const found = holder[attribute.name]
    if (found === undefined) continue
    if (sub) holder[attribute.name] = withoutPart(found, sub.name)
    else delete holder[attribute.name]
    if (extension !== undefined) kept[extension] = holder
  }
  return kept
}

function withoutPart(value: JsonValue, name: string): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((each) => withoutPart(each, name))
  if (!isJsonObject(value)) return value
  const { [name]: _, ...rest } = value
  return rest
}

function isWhole({ extension, attribute, sub }: AttributePath, name: string): boolean {
  return extension === undefined && sub === undefined && attribute.name === name
}
