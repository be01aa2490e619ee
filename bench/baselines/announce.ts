import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Listens on a free port, prints its address on stdout, and exits on request.
 *
 * @param prepare runs once the address is known, before it is printed
 */
export async function announce(app: FastifyInstance, prepare?: () => Promise<void>): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  await prepare?.()
  say(app.server)
}

/** Works like `announce`, for a server without Fastify. */
export async function announceServer(server: Server, prepare: () => void): Promise<void> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  prepare()
  say(server)
}

export function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function say(server: Server): void {
  process.stdout.write(`${addressOf(server)}\n`)
  process.on('SIGTERM', () => process.exit())
}
