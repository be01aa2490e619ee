import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { type AddressGuard, refusal } from './address-guard.ts'

/** Every address of a name, as the system's resolver finds them. */
export type Resolve = (host: string) => Promise<LookupAddress[]>

export const resolveBySystem: Resolve = (host) =>
  new Promise((resolve, reject) =>
    systemLookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  )

/**
 * Opens connections to addresses that the guard lets through. The check sits between resolving and connecting, so the
 * address that was checked is the one that is connected to, whatever the name resolves to a moment later.
 */
export function guardedConnector(guard: AddressGuard, resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    const fail = (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0)
    resolve(hostname).then((addresses) => {
      const host = hostname.toLowerCase().replace(/\.$/, '')
      const refused = refusal(guard.problemOfAddresses(host, addresses))
      const [first] = addresses
      if (refused || first === undefined) fail(refused)
      else if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    }, fail)
  }
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false })
  return (options, callback) => {
    // Node asks no resolver for a literal, so it never gets to the lookup.
    const refused = refusal(guard.problemOfLiteral(options.hostname))
    if (refused) callback(refused, null)
    else connect(options, callback)
  }
}
