import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'

export interface DnsOptions {
  /** Addresses of DNS servers, with optional ports. Default: those of the system (resolv.conf). */
  servers?: readonly string[]
  /** Milliseconds until a server is asked again, or the next one. Default 1,000. */
  tryMs?: number
  /** Milliseconds for a whole look-up. Default 5,000. */
  timeoutMs?: number
  /** Milliseconds to wait for the second family once the first has addresses. Default 1,000. */
  otherFamilyMs?: number
}

export type DnsFinding =
  | { addresses: LookupAddress[] }
  | {
      addresses?: undefined
      /** An error with a code of `dns.lookup`. */
      error: NodeJS.ErrnoException
      /** Whether another source may know the name: DNS does not know it, or DNS is unavailable here. */
      mayBeInside: boolean
    }

/** DNS codes for a name that does not exist or is not valid. */
const unknownCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME'])
/** DNS codes for a server that cannot answer. c-ares takes them for an answer, and asks no further server by itself. */
const failureCodes = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP'])
const tries = 3

/**
 * Asks only DNS for the addresses of a name (RFC 1035, RFC 3596): A and AAAA concurrently, the unchanged name, without
 * hosts file and search list. It uses no thread, and ends in time regardless of the servers.
 * IPv4 comes first. The families that this machine can route are unknown here; without a route a connection goes to the
 * other family at once. If a route only seems to exist, `net.connect` tries the other family a moment later.
 */
export function resolveByDns(options: DnsOptions = {}): (name: string) => Promise<DnsFinding> {
  const { servers, tryMs = 1_000, timeoutMs = 5_000, otherFamilyMs = 1_000 } = options

  return async (name) => {
    // Each look-up has its own resolver: it reads resolv.conf again, and hanging names do not count against servers for
    // other names.
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (servers) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), timeoutMs)
    try {
      for (let left = resolver.getServers(); ; left = left.slice(1)) {
        const { addresses, codes } = await askBoth(resolver, name, otherFamilyMs)
        if (addresses.length > 0) return { addresses }
        const isWorthMore = codes.some((code) => failureCodes.has(code)) && !codes.includes('ECANCELLED')
        if (!isWorthMore || left.length < 2) return failureOf(name, codes)
        resolver.setServers(left.slice(1))
      }
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Returns addresses, IPv4 first, and the codes of failures. */
async function askBoth(resolver: Resolver, name: string, otherFamilyMs: number) {
  const codes: string[] = []
  let timer: NodeJS.Timeout | undefined
  const ask = async (family: 4 | 6): Promise<LookupAddress[]> => {
    try {
      const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
      timer ??= setTimeout(() => resolver.cancel(), otherFamilyMs)
      return addresses.map((address) => ({ address, family }))
    } catch (error) {
      codes.push(String((error as NodeJS.ErrnoException).code))
      return []
    }
  }
  const addresses = (await Promise.all([ask(4), ask(6)])).flat()
  clearTimeout(timer)
  return { addresses, codes }
}

function failureOf(name: string, codes: readonly string[]): DnsFinding {
  const isUnknown = codes.every((code) => unknownCodes.has(code))
  // The DNS server of this machine refuses connections, which says nothing about the name.
  const isWithoutDns = codes.every((code) => code === 'ECONNREFUSED')
  const code = isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN'
  const error = Object.assign(new Error(`DNS has no address of ${name} (${codes.join(', ')})`), { code })
  return { error, mayBeInside: isUnknown || isWithoutDns }
}
