import type { LookupAddress } from 'node:dns'
import type { AllowList } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'
import { rangeProblem, readAddress } from './public-address.ts'

const urlLengthMax = 2048
const operatorHint = 'the Hub connects to public addresses, and to those that its operator allows (HUB_OUTBOUND_ALLOW)'

/** Decides what the Hub may connect to. Every answer is what is wrong, to follow a name or an address; or undefined. */
export interface AddressGuard {
  /** Of a URL as it is written: form, scheme, userinfo, address literals. */
  problemOfUrl(text: string): string | undefined
  /** Of a host that is an address literal; undefined for names. */
  problemOfLiteral(host: string): string | undefined
  /** Of what a name resolves to: one address that is not public is one too many. */
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
      const url = readUrl(text)
      if (typeof url === 'string') return url
      const host = hostOf(url)
      const address = readAddress(host)
      const isAllowed = allow.hasHost(host) || (address !== undefined && allow.hasAddress(address))
      if (isAllowed) return undefined
      if (url.protocol !== 'https:' && options.httpsOnly) return 'must begin with https://'
      if (/(^|\.)localhost$/.test(host)) return `names this machine; ${operatorHint}`
      const problem = problemOfLiteral(host)
      return problem && `names ${host}, which ${problem}`
    },
    problemOfLiteral,
    problemOfAddresses(host, addresses) {
      if (allow.hasHost(host)) return undefined
      for (const { address: text } of addresses) {
        const address = readAddress(text)
        const problem =
          address === undefined ? 'no address' : allow.hasAddress(address) ? undefined : rangeProblem(address)
        if (problem) return `resolves to ${problem}; ${operatorHint}`
      }
      return addresses.length === 0 ? 'resolves to no address' : undefined
    },
  }
}

/** The host of a URL as the guard compares it: lower case, no brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** As OutboundError, when there is a problem. */
export function refusal(problem: string | undefined): OutboundError | undefined {
  return problem === undefined ? undefined : new OutboundError('blocked', problem)
}

/**
 * The URL, or what is wrong with its text. The URL parser (WHATWG) brings every notation of an address into the usual
 * one. It also drops blanks and turns backslashes, so that two readers could see two hosts: no such text is taken.
 */
function readUrl(text: string): URL | string {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must be a URL without blanks, control characters and backslashes'
  const url = URL.parse(text)
  if (url === null) return 'must be a URL with a scheme and a host, such as https://login.example.com'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or a password'
  return url
}
