import type { FastifyRequest } from 'fastify'

/**
 * The address that a request came from, as far as the proxies are trusted. Some of them name the port as well, which
 * the caller chooses: with it every connection would be another caller.
 */
export function callerAddressOf(request: FastifyRequest): string {
  const address = request.ip as string | undefined
  if (address === undefined) return 'gone'
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[([\da-f:.]+)\](:\d+)?$/i.exec(address)?.[1] ?? address
}
