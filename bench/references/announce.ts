import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Listens on a port that the system chooses, says where on stdout, and ends when it is told to. */
export async function announce(app: FastifyInstance): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  process.stdout.write(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
  process.on('SIGTERM', () => process.exit())
}
