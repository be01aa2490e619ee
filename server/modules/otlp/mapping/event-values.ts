import { sessionIdLengthMax } from '../../../../contract/limits.ts'
import { patterns } from '../../../../contract/literals.ts'
import type { JsonValue } from '../../../../provenance/index.ts'
import type { AttributeValue } from '../inherited-attributes.ts'
import { platformOfProvider } from './attribute-names.ts'

/** Values of members of an event, made from what other systems send in their place. */

const semver = new RegExp(patterns.semver)
const defaultSkillVersion = '0.0.0'

export function textOf(value: AttributeValue | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value)
}

/** Replaces what an identifier cannot have by hyphens: names of agents have spaces. */
export function identifierOf(value: AttributeValue | undefined): string | undefined {
  return meaningful(
    textOf(value)
      ?.trim()
      .replaceAll(/[^A-Za-z0-9_.:-]+/g, '-'),
  )
}

/** Cuts an id that is too long, as the import of files does, instead of rejecting the event. */
export function sessionOf(value: AttributeValue | undefined): string | undefined {
  // Half of a surrogate pair is no text.
  return textOf(
    textOf(value)
      ?.slice(0, sessionIdLengthMax)
      .replace(/[\uD800-\uDBFF]$/, ''),
  )
}

/** Returns undefined for `undefined`, which Claude Code sends as the status of a request without a response. */
export function errorOf(value: AttributeValue | undefined): string | undefined {
  return value === 'undefined' ? undefined : identifierOf(value)
}

/** Drops a variant in brackets, such as `[1m]`, which no price list has. */
export function modelOf(value: AttributeValue | undefined): string | undefined {
  const model = textOf(value)
    ?.trim()
    .replace(/\[[^\]]*\]$/, '')
  return meaningful(model?.replaceAll(/[^A-Za-z0-9_.:/@-]+/g, '-'))
}

/** Returns undefined for an id without letters and digits: names in other scripts have become hyphens. */
function meaningful(id: string | undefined): string | undefined {
  const cut = id?.slice(0, 128)
  return cut !== undefined && /[A-Za-z0-9]/.test(cut) ? cut : undefined
}

export function versionOf(value: AttributeValue | undefined): string {
  const version = textOf(value)
  return version !== undefined && version.length <= 128 && semver.test(version) ? version : defaultSkillVersion
}

export function userOf(value: AttributeValue | undefined): string | undefined {
  const user = textOf(value)?.trim()
  if (user === undefined || user === '') return undefined
  return user.startsWith('user:') ? user : `user:${user}`
}

export function platformOf(value: AttributeValue | undefined): string {
  const provider = textOf(value)?.toLowerCase() ?? 'otel'
  const name = provider.replaceAll(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '')
  return platformOfProvider.get(provider) ?? `custom:${name.slice(0, 63) || 'otel'}`
}

/** Returns undefined for text that is no number; the checks of events refuse any other wrong value. */
export function numberOf(value: AttributeValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

export function withoutAbsent(members: Record<string, JsonValue | undefined>): Record<string, JsonValue> {
  const present: Record<string, JsonValue> = {}
  for (const name in members) {
    const value = members[name]
    if (value !== undefined) present[name] = value
  }
  return present
}
