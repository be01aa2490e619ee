import { domainKey } from '../../../contract/email-address.ts'

const twoLabels = /\.[^.]{2,}$/

/** A domain as domains are compared: lower case, in ASCII (UTS 46). Undefined for what is none, or has no dot. */
export function readDomain(text: string): string | undefined {
  const domain = domainKey(text)
  return domain !== undefined && twoLabels.test(domain) ? domain : undefined
}

/** The domain of an e-mail address, as {@link readDomain} writes it. */
export function domainOfEmail(email: string): string | undefined {
  const at = email.lastIndexOf('@')
  return at < 1 ? undefined : readDomain(email.slice(at + 1))
}
