import { validationFailed } from './domain-error.ts'
import { patterns } from './literals.ts'

/** RFC 5321, section 4.5.3.1.3: a path of 256 octets, without its angle brackets. */
export const emailLengthMax = 254

const emailPattern = new RegExp(patterns.email, 'u')
/** Labels of RFC 1035, section 2.3.4. The last begins with a letter: with a digit it is of an IP address. */
const domainPattern = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Matches characters that end the host of a URL, are dropped from it, or are mapped to others. */
const noDomain = /[\s\p{C}/?#\\%@:]/u

/** Whether it looks like one address. Only a mail that arrives proves that it is one. */
export function isEmail(text: string): boolean {
  return text.length <= emailLengthMax && emailPattern.test(text) && domainKey(partsOf(text).domain) !== undefined
}

/** Checks the domain, which a schema pattern cannot. Throws `validation-failed` for the member `email`. */
export function requireEmail(text: string): void {
  if (!isEmail(text)) throw validationFailed([{ pointer: '/email', detail: 'must be an e-mail address' }])
}

/**
 * Returns the form in which addresses are compared: lower case, Unicode normalization form C, and the domain as in
 * {@link domainKey}. Applies only the first two to a text that is no address.
 */
export function emailKey(email: string): string {
  const { local, domain } = partsOf(email)
  const key = domainKey(domain)
  return key === undefined ? folded(email) : `${folded(local)}@${key}`
}

/**
 * Returns the form in which domains are compared: ASCII by UTS 46, as the URL Standard applies it.
 * Other full stops, full-width letters and `xn--` make no difference. Returns undefined for an invalid domain.
 */
export function domainKey(domain: string): string | undefined {
  if (noDomain.test(domain)) return undefined
  const host = URL.parse(`http://${folded(domain)}`)?.hostname ?? ''
  return domainPattern.test(host) ? host : undefined
}

function partsOf(email: string): { local: string; domain: string } {
  const at = email.lastIndexOf('@')
  return at < 0 ? { local: email, domain: '' } : { local: email.slice(0, at), domain: email.slice(at + 1) }
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC')
}
