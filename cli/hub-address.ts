import { isLoopbackHost } from '../server/http/request-headers.ts'

/** Returns true if a secret would cross the network in clear to an address: http, except to this machine. */
export function exposesSecrets(address: string): boolean {
  const { protocol, host } = new URL(address)
  return protocol === 'http:' && !isLoopbackHost(host)
}
