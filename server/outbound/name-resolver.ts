import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { AllowList } from './address-guard.ts'

/**
 * Resolves a name to all its addresses, at least one. Rejects with a code of `dns.lookup`: ENOTFOUND if the name has
 * none, EAI_AGAIN if no server could answer.
 */
export type Resolve = (host: string) => Promise<LookupAddress[]>

export interface NameResolverOptions {
  dns?: DnsOptions
  /** The resolver of the operating system. */
  system?: Resolve
  /**
   * Milliseconds for a look-up by the system of a name that is not on the allow-list, including the wait for its turn.
   * Default 5,000.
   */
  systemMs?: number
}

/**
 * Resolves the names that tenants set. The system resolves names on the operator's allow-list, because it knows the
 * hosts file and the search list. DNS resolves all others: the system's resolver holds one of the process's few threads
 * as long as a name's servers like, and libuv gives it two. An owner of two slow names could keep every other name from
 * being resolved.
 * An operator who allows networks may list names for their addresses only in the hosts file. So the system is then also
 * asked for names that DNS does not know, one name at a time.
 * Concurrent look-ups of one name share one look-up; nothing is cached after it.
 */
export function createNameResolver(allow: AllowList, options: NameResolverOptions = {}): Resolve {
  const { system = resolveBySystem, systemMs = 5_000 } = options
  const byDns = resolveByDns(options.dns)
  const bySystemInTurn = limitToOne(system, systemMs)

  async function find(name: string): Promise<LookupAddress[]> {
    const family = isIP(name)
    if (family !== 0) return [{ address: name, family }]
    if (allow.hasHost(name)) return system(name)
    const found = await byDns(name)
    if (found.addresses) return found.addresses
    // Excludes failures that the owner of a name can cause: the system would wait for the same servers.
    if (allow.hasNetworks && found.mayBeInside) return bySystemInTurn(name)
    throw found.error
  }

  const underWay = new Map<string, Promise<LookupAddress[]>>()
  return (host) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    return underWay.getOrInsertComputed(name, () => find(name).finally(() => underWay.delete(name)))
  }
}

/**
 * Resolves by getaddrinfo: hosts file, search list, DNS. It runs on a thread of the process's pool, and cannot be
 * cancelled.
 */
export const resolveBySystem: Resolve = (host) =>
  new Promise((resolve, reject) =>
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  )

/**
 * Resolves one name at a time, so that many or slow look-ups hold at most one thread. A caller without an answer in
 * time leaves the queue with EAI_AGAIN; the next one starts when the look-up itself ends.
 */
export function limitToOne(resolve: Resolve, timeoutMs: number): Resolve {
  const waiting = new Set<() => void>()
  let isBusy = false

  function next(): void {
    const [first] = waiting
    isBusy = first !== undefined
    if (!first) return
    waiting.delete(first)
    first()
  }

  return (host) =>
    new Promise((found, failed) => {
      const begin = () => {
        resolve(host)
          .then(found, failed)
          .finally(() => {
            clearTimeout(timer)
            next()
          })
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        failed(Object.assign(new Error(`no answer about ${host} in time`), { code: 'EAI_AGAIN' }))
      }, timeoutMs)
      waiting.add(begin)
      if (!isBusy) next()
    })
}

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
