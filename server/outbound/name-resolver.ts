import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import type { AllowList } from './allow-list.ts'
import { type DnsOptions, resolveByDns } from './dns-resolver.ts'
import { limitToOne, resolveBySystem } from './system-resolver.ts'

/**
 * Every address of a name, at least one. Rejects with the code of `dns.lookup`: ENOTFOUND where the name has none,
 * EAI_AGAIN where nobody could say.
 */
export type Resolve = (host: string) => Promise<LookupAddress[]>

export interface NameResolverOptions {
  dns?: DnsOptions
  /** The resolver of the operating system. */
  system?: Resolve
  /** For a look-up by the system of a name that is not on the allow-list, waiting for its turn included. */
  systemMs?: number
}

/**
 * Resolves the names that tenants set. Those that the operator's allow-list names are the system's: it knows the hosts
 * file and the search list. All others are asked of DNS, since the system's resolver holds one of the process's few
 * threads as long as a name's servers like, and of these libuv gives it two: whoever owns two names could keep every
 * other from being resolved.
 *
 * An operator who allows networks may have names for their addresses in the hosts file alone. So what DNS does not know
 * is asked of the system too then, one name at a time.
 *
 * Look-ups of one name at the same moment are one look-up; nothing is remembered after it.
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
    // Not after a failure that whoever owns the name can cause: the system would wait for the same servers.
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
