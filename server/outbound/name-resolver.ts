import { type LookupAddress, lookup } from 'node:dns'
import { isIP } from 'node:net'
import type { AllowList } from './allow-list.ts'
import { type DnsOptions, resolveByDns } from './dns-resolver.ts'

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
    let found = underWay.get(name)
    if (!found) {
      found = find(name).finally(() => underWay.delete(name))
      underWay.set(name, found)
    }
    return found
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
