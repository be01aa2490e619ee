import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'

export interface DnsOptions {
  /** Addresses of DNS servers, with ports if need be; those of the system (resolv.conf) when left out. */
  servers?: readonly string[]
  /** Until a server is asked again, or the next one. */
  tryMs?: number
  /** For a whole look-up. */
  timeoutMs?: number
  /** How long the second family is waited for once there are addresses of the first. */
  otherFamilyMs?: number
}

export type DnsFinding =
  | { addresses: LookupAddress[] }
  | {
      addresses?: undefined
      /** With a code of `dns.lookup`. */
      error: NodeJS.ErrnoException
      /** DNS does not know the name, or there is no DNS here: another source may have it. */
      mayBeInside: boolean
    }

/** What DNS says when there is no such name, or none that could be. */
const unknownCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME'])
/** When a server says that it cannot say: c-ares takes that for an answer, and asks no further server by itself. */
const failureCodes = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP'])
const tries = 3

/**
 * Asks DNS alone for the addresses of a name (RFC 1035, RFC 3596): A and AAAA side by side, the name as it stands, without
 * hosts file and search list. It uses no thread, and ends in time whatever the servers do.
 *
 * IPv4 comes first: which families this machine has a way for is not known here, and without one a connection goes to the
 * other family at once. Where a way only seems to be there `net.connect` tries the other family a moment later.
 */
export function resolveByDns(options: DnsOptions = {}): (name: string) => Promise<DnsFinding> {
  const { servers, tryMs = 1_000, timeoutMs = 5_000, otherFamilyMs = 1_000 } = options

  return async (name) => {
    // One for each look-up: resolv.conf is read anew, and names that hang do not count against servers for other names.
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

/** Addresses, IPv4 first, and the codes of what failed. */
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
  // This is the DNS server of the machine that refuses, and says nothing of the name.
  const isWithoutDns = codes.every((code) => code === 'ECONNREFUSED')
  const code = isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN'
  const error = Object.assign(new Error(`DNS has no address of ${name} (${codes.join(', ')})`), { code })
  return { error, mayBeInside: isUnknown || isWithoutDns }
}
