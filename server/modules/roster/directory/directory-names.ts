import { emailKey, isEmail } from '../../../../contract/email-address.ts'
import { displayNameLengthMax } from '../../../../contract/limits.ts'
import { isJsonObject, type JsonValue } from '../../../../provenance/json.ts'
import { randomText } from '../../../secrets/random-text.ts'
import type { DirectoryUserWrite } from './directory-types.ts'

/** `grp_` and 24 letters and digits. */
export function makeGroupId(): string {
  return `grp_${randomText(24)}`
}

/** What user names and display names of groups are compared by: RFC 7643 has no difference of case in them. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC')
}

/** What the Hub itself keeps of a person. */
export interface PersonDetails {
  /** Empty where the directory gives none. */
  email: string
  emailKey: string
  displayName: string | null
}

/** The primary address, else the first, else the user name where it is an address. */
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

/** In one line, as people are shown. */
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
