import type { LookupAddress } from 'node:dns'
import ipaddr from 'ipaddr.js'
import { badPortWords, OutboundError } from './outbound-error.ts'
import { type Address, rangeProblem, reachedAddress, readAddress } from './public-address.ts'

/** Ports without HTTP servers: "bad ports" of the Fetch standard (section 2.9), which `fetch` refuses, and 0. */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
])

/** Returns whether a server on this port could mistake a request for one of its own protocol. */
export function hasBadPort({ port }: Pick<URL, 'port'>): boolean {
  return port !== '' && badPorts.has(Number(port))
}

const urlLengthMax = 2048
const httpHint = 'http:// is allowed only for hosts in HUB_OUTBOUND_ALLOW'
const operatorHint = 'the Hub connects only to public addresses and those in HUB_OUTBOUND_ALLOW'

/**
 * Decides which addresses the Hub may connect to. Each method returns the problem, worded to follow a name or an
 * address, or undefined.
 */
export class AddressGuard {
  readonly #allow: AllowList
  readonly #httpsOnly: boolean

  constructor(allow: AllowList, { httpsOnly }: { httpsOnly: boolean }) {
    this.#allow = allow
    this.#httpsOnly = httpsOnly
  }

  /** Checks the text of a URL: form, scheme, userinfo, port, address literals. */
  problemOfUrl(text: string): string | undefined {
    const url = readUrl(text, this.#httpsOnly)
    if (typeof url === 'string') return url
    const host = hostOf(url)
    const address = readAddress(host)
    const isAllowed = this.#allow.hasHost(host) || (address !== undefined && this.#allow.hasAddress(address))
    if (isAllowed) return undefined
    if (url.protocol !== 'https:' && this.#httpsOnly) return `must start with https://; ${httpHint}`
    if (/(^|\.)localhost$/.test(host)) return `names this machine; ${operatorHint}`
    const problem = this.problemOfLiteral(host)
    if (problem) return `names ${host}, which ${problem}`
    return hasBadPort(url) ? badPortWords : undefined
  }

  /** Checks a host that is an address literal; returns undefined for names. */
  problemOfLiteral(host: string): string | undefined {
    const address = readAddress(host)
    if (address === undefined || this.#allow.hasAddress(address)) return undefined
    const range = rangeProblem(address)
    return range && `is ${range}; ${operatorHint}`
  }

  /** Checks the resolved addresses of a name. A single address that is not public is a problem. */
  problemOfAddresses(host: string, addresses: readonly LookupAddress[]): string | undefined {
    if (addresses.length === 0) return 'resolves to no address'
    if (this.#allow.hasHost(host)) return undefined
    for (const { address: text } of addresses) {
      const address = readAddress(text)
      if (address !== undefined && this.#allow.hasAddress(address)) continue
      const problem = address === undefined ? 'no address' : rangeProblem(address)
      if (problem) return `resolves to ${problem}; ${operatorHint}`
    }
    return undefined
  }
}

/** Returns the host of a URL in the guard's form: lower case, no brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** Returns a problem as OutboundError, if there is one. */
export function blockedError(problem: string | undefined): OutboundError | undefined {
  return problem === undefined ? undefined : new OutboundError('blocked', problem)
}

/**
 * Returns the URL, or the problem of its text, which no allow-list lifts. The URL parser (WHATWG) normalises every
 * notation of an address. It also drops blanks, turns backslashes and adds slashes, so two readers could see two hosts;
 * such a text is rejected.
 */
function readUrl(text: string, httpsOnly: boolean): URL | string {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must be a URL without blanks, control characters and backslashes'
  const url = URL.parse(text)
  const wanted = 'must be a URL with a scheme and a host, such as https://acme.example'
  if (url === null) return wanted
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return httpsOnly ? 'must start with https://' : 'must start with https:// or http://'
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined) return wanted
  // Catches an empty userinfo too, which the parser drops.
  if (authority.includes('@')) return 'must not contain a user name or password'
  if (hostOf(url).split('.').includes('')) return 'must name a host without empty parts between its dots'
  return url
}

/** The addresses that the operator allows although they are not public (HUB_OUTBOUND_ALLOW). */
export class AllowList {
  readonly #hosts = new Set<string>()
  readonly #networks: [Address, number][] = []

  /** @param entries host names, addresses and networks in CIDR notation, in lower case */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const [text = '', bits] = entry.split('/')
      const address = readAddress(text)
      if (address === undefined) this.#hosts.add(entry)
      else this.#networks.push([address, bits === undefined ? address.toByteArray().length * 8 : Number(bits)])
    }
  }

  /** Whether entries are addresses or networks. */
  get hasNetworks(): boolean {
    return this.#networks.length > 0
  }

  /** Returns whether the host is allowed by name, on every port. */
  hasHost(host: string): boolean {
    return this.#hosts.has(host)
  }

  hasAddress(address: Address): boolean {
    const reached = reachedAddress(address)
    return this.#networks.some((network) => isInside(address, network) || isInside(reached, network))
  }
}

function isInside(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits)
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}
