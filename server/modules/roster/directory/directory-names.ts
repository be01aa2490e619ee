import { isDeepStrictEqual } from 'node:util'
import { emailKey, isEmail } from '../../../../contract/email-address.ts'
import { displayNameLengthMax } from '../../../../contract/limits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { DirectoryUserWrite } from './directory-types.ts'

/** Returns a new group id: `grp_` and 24 letters and digits. */
export function makeGroupId(): string {
  return `grp_${randomText(24)}`
}

/** Returns the comparison key of a user name or group display name. RFC 7643 defines both as case-insensitive. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC')
}

/** Returns the names of the members that differ, sorted after `externalId`. */
export function changedMembers(
  before: { external_id: string | null; attributes: JsonObject },
  after: Pick<DirectoryUserWrite, 'externalId' | 'attributes'>,
): string[] {
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])
  return [
    ...(before.external_id === after.externalId ? [] : ['externalId']),
    ...[...names].filter((name) => !isDeepStrictEqual(before.attributes[name], after.attributes[name])).sort(),
  ]
}

/** The details of a person that the Hub itself stores. */
export interface PersonDetails {
  /** Empty if the directory provides none. */
  email: string
  emailKey: string
  displayName: string | null
}

/**
 * Returns the details of a person. The address is the primary one, else the first, else the user name if it is an
 * address.
 */
export function personOf({ userName, attributes }: Pick<DirectoryUserWrite, 'userName' | 'attributes'>): PersonDetails {
  const email = addressOf(attributes.emails) ?? (isEmail(userName) ? userName : '')
  return { email, emailKey: email === '' ? '' : emailKey(email), displayName: displayNameOf(attributes) }
}

function addressOf(emails: JsonValue | undefined): string | undefined {
  if (!Array.isArray(emails)) return undefined
  const values = (emails as readonly JsonValue[]).filter(isJsonObject)
  const ordered = [...values.filter(({ primary }) => primary === true), ...values]
  return ordered.map(({ value }) => value).find((value) => typeof value === 'string' && isEmail(value)) as
    | string
    | undefined
}

/** Returns the name on one line, as the Hub shows people. */
function displayNameOf({ displayName, name }: DirectoryUserWrite['attributes']): string | null {
  const parts = isJsonObject(name ?? null) ? (name as Record<string, JsonValue>) : {}
  const whole = [parts.givenName, parts.familyName].filter((part) => typeof part === 'string').join(' ')
  for (const candidate of [displayName, parts.formatted, whole]) {
    if (typeof candidate !== 'string') continue
    const text = candidate.replaceAll(/\p{C}+/gu, ' ').trim()
    if (text !== '') return [...text].slice(0, displayNameLengthMax).join('').trim()
  }
  return null
}
