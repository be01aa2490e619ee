import type { DirectoryFilter } from '../roster/directory/directory-types.ts'
import { type AttributePath, attributeNamed, findAttribute } from './attribute-paths.ts'
import { parseValueFilter } from './filter-parser.ts'
import { FilterSyntaxError, filterTokens } from './filter-tokens.ts'
import type { ResourceDefinition } from './schema-types.ts'
import { scimProblem } from './scim-problems.ts'

/** The target of a PATCH operation (RFC 7644, section 3.5.2). */
export interface PatchPath extends AttributePath {
  /** Selects values of a multi-valued attribute. */
  filter?: DirectoryFilter
}

/**
 * Parses `userName`, `name.familyName`, `emails[type eq "work"].value`, `urn:…:User:department`.
 *
 * @returns undefined for a well-formed path to an unknown attribute
 * @throws DomainError 400 with scimType `invalidPath`
 */
export function parsePatchPath(resource: ResourceDefinition, text: string): PatchPath | undefined {
  try {
    return parse(resource, text)
  } catch (error) {
    if (error instanceof FilterSyntaxError)
      throw scimProblem('invalidPath', `The path cannot be used: ${error.message}.`)
    throw error
  }
}

function parse(resource: ResourceDefinition, text: string): PatchPath | undefined {
  const tokens = filterTokens(text)
  const [first, bracket] = tokens
  if (first?.kind !== 'word') throw new FilterSyntaxError('it does not start with an attribute')
  if (!isAttributePath(first.text)) throw new FilterSyntaxError('its attribute is not written as one')
  if (isForbidden(first.text)) throw new FilterSyntaxError('it has a name that is not allowed')
  const path = findAttribute(resource, first.text)
  if (bracket === undefined) return path
  if (bracket.kind !== '[') throw new FilterSyntaxError('after the attribute only a filter in brackets can follow')
  // The attribute is unknown, so nothing is selected, but the form of the path was checked.
  if (!path) return undefined
  if (path.sub || !path.attribute.multiValued || !path.attribute.subAttributes) {
    throw new FilterSyntaxError(`${path.attribute.name} has no values of several parts to choose from`)
  }
  const { filter, end } = parseValueFilter(resource, tokens, path, 2)
  const last = tokens[end]
  if (last === undefined) return { ...path, filter }
  if (last.kind !== 'word' || !last.text.startsWith('.') || tokens.length > end + 1) {
    throw new FilterSyntaxError('after the brackets only one sub-attribute can follow, such as .value')
  }
  const sub = attributeNamed(path.attribute.subAttributes, last.text.slice(1))
  if (!sub) throw new FilterSyntaxError(`${path.attribute.name} has no part ${JSON.stringify(last.text.slice(0, 100))}`)
  return { ...path, filter, sub }
}

/**
 * Returns whether the text is a name with at most one sub-attribute, optionally after the URN of a schema (RFC 7644,
 * figure 1).
 */
function isAttributePath(text: string): boolean {
  const colon = text.lastIndexOf(':')
  if (colon >= 0 && !/^urn:[a-z0-9]/i.test(text)) return false
  return /^[a-z_$][\w$-]*(\.[a-z_$][\w$-]*)?$/i.test(text.slice(colon + 1))
}

/** Returns whether the name targets a prototype. No code here would follow such a name, but only attackers send it. */
function isForbidden(name: string): boolean {
  return /(^|[.:])(__proto__|constructor|prototype)($|[.:])/i.test(name)
}
