import type { LookupAddress } from 'node:dns'
import type { AllowList } from './allow-list.ts'
import { badPortWords, hasBadPort } from './bad-ports.ts'
import { OutboundError } from './outbound-error.ts'
import { rangeProblem, readAddress } from './public-address.ts'

const urlLengthMax = 2048
const httpHint = 'http:// is for hosts that the operator of the Hub allows (HUB_OUTBOUND_ALLOW)'
const operatorHint = 'the Hub connects to public addresses, and to those that its operator allows (HUB_OUTBOUND_ALLOW)'

/**
 * Decides which addresses the Hub may connect to. Each method returns the problem, worded to follow a name or an
 * address, or undefined.
 */
export interface AddressGuard {
  /** Checks the text of a URL: form, scheme, userinfo, port, address literals. */
  problemOfUrl(text: string): string | undefined
  /** Checks a host that is an address literal; returns undefined for names. */
  problemOfLiteral(host: string): string | undefined
  /** Checks the resolved addresses of a name. A single address that is not public is a problem. */
  problemOfAddresses(host: string, addresses: readonly LookupAddress[]): string | undefined
}

export function createAddressGuard(allow: AllowList, options: { httpsOnly: boolean }): AddressGuard {
  function problemOfLiteral(host: string): string | undefined {
    const address = readAddress(host)
    if (address === undefined || allow.hasAddress(address)) return undefined
    const range = rangeProblem(address)
    return range && `is ${range}; ${operatorHint}`
  }
  return {
    problemOfUrl(text) {
      const url = readUrl(text, options)
      if (typeof url === 'string') return url
      const host = hostOf(url)
      const address = readAddress(host)
      const isAllowed = allow.hasHost(host) || (address !== undefined && allow.hasAddress(address))
      if (isAllowed) return undefined
      if (url.protocol !== 'https:' && options.httpsOnly) return `must begin with https://; ${httpHint}`
      if (/(^|\.)localhost$/.test(host)) return `names this machine; ${operatorHint}`
      const problem = problemOfLiteral(host)
      if (problem) return `names ${host}, which ${problem}`
      return hasBadPort(url) ? badPortWords : undefined
    },
    problemOfLiteral,
    problemOfAddresses(host, addresses) {
      if (addresses.length === 0) return 'resolves to no address'
      if (allow.hasHost(host)) return undefined
      for (const { address: text } of addresses) {
        const address = readAddress(text)
        const problem =
          address === undefined ? 'no address' : allow.hasAddress(address) ? undefined : rangeProblem(address)
        if (problem) return `resolves to ${problem}; ${operatorHint}`
      }
      return undefined
    },
  }
}

/** Returns the host of a URL in the guard's form: lower case, no brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** Returns a problem as OutboundError, if there is one. */
export function refusal(problem: string | undefined): OutboundError | undefined {
  return problem === undefined ? undefined : new OutboundError('blocked', problem)
}

/**
 * Returns the URL, or the problem of its text, which no allow-list lifts. The URL parser (WHATWG) normalises every
 * notation of an address. It also drops blanks, turns backslashes and adds slashes, so two readers could see two hosts;
 * such a text is rejected.
 */
function readUrl(text: string, { httpsOnly }: { httpsOnly: boolean }): URL | string {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must be a URL without blanks, control characters and backslashes'
  const url = URL.parse(text)
  const wanted = 'must be a URL with a scheme and a host, such as https://acme.example'
  if (url === null) return wanted
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return httpsOnly ? 'must begin with https://' : 'must begin with https:// or http://'
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return wanted
  // Catches an empty userinfo too, which the parser drops.
  if (authority.includes('@')) return 'must not carry a user name or a password'
  if (hostOf(url).split('.').includes('')) return 'must name a host without empty parts between its dots'
  return url
}
