import { domainKey } from '../../../contract/email-address.ts'

const twoLabels = /\.[^.]{2,}$/

/**
 * Returns the comparison form of a domain: lower case, in ASCII (UTS 46). Returns undefined for text that is no domain
 * or has no dot.
 */
export function readDomain(text: string): string | undefined {
  const domain = domainKey(text)
  return domain !== undefined && twoLabels.test(domain) ? domain : undefined
}

/** Returns the domain of an e-mail address in the form of {@link readDomain}. */
export function domainOfEmail(email: string): string | undefined {
  const at = email.lastIndexOf('@')
  return at < 1 ? undefined : readDomain(email.slice(at + 1))
}
