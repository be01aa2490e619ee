import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { type AddressGuard, refusal } from './address-guard.ts'
import type { Resolve } from './name-resolver.ts'

/**
 * Opens connections to addresses that the guard allows. The check runs between resolving and connecting, so the checked
 * address is the one that is connected to, even if the name resolves to another a moment later.
 */
export function guardedConnector(guard: AddressGuard, resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    const checked = async () => {
      const addresses = await resolve(hostname)
      const refused = refusal(guard.problemOfAddresses(hostname.toLowerCase().replace(/\.$/, ''), addresses))
      if (refused) throw refused
      return addresses
    }
    checked().then(
      (addresses) => {
        const [first] = addresses
        if (options.all) callback(null, addresses)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    )
  }
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false })
  return (options, callback) => {
    // Node does not resolve a literal, so the lookup never sees it.
    const refused = refusal(guard.problemOfLiteral(options.hostname))
    if (refused) callback(refused, null)
    else connect(options, callback)
  }
}
