import type { FastifyRequest } from 'fastify'

/**
 * Returns the address of the caller, as far as the proxies are trusted. Some proxies add the port, which the caller
 * chooses: with it every connection would count as another caller.
 */
export function callerAddressOf(request: FastifyRequest): string {
  const address = request.ip as string | undefined
  if (address === undefined) return 'gone'
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[([\da-f:.]+)\](:\d+)?$/i.exec(address)?.[1] ?? address
}
