import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Config } from './config.ts'
import { StartupError } from './startup-error.ts'

type Address = Pick<Config, 'host' | 'port'>

/** The sockets that listen at one address for the processes of a cluster. */
export interface Listener {
  readonly port: number
  close(): void
}

/**
 * Listens at the configured address and passes on each connection before reading from it. `localhost` means all its
 * addresses, as in Fastify.
 *
 * @throws StartupError if the port is taken or not allowed
 */
export async function listenForConnections(address: Address, give: (socket: Socket) => void): Promise<Listener> {
  const { host } = address
  const found = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host }]
  const [first = host, ...others] = new Set(found.map((each) => each.address))
  const open = async (at: Address): Promise<Server> => {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, give).listen(at)
    await once(server, 'listening')
    return server
  }
  const main = await explainingFailure(address, () => open({ ...address, host: first }))
  const { port } = main.address() as AddressInfo
  const more = await Promise.allSettled(others.map((each) => open({ host: each, port })))
  const servers = [main, ...more.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))]
  return {
    port,
    close: () => {
      for (const server of servers) server.close()
    },
  }
}

/**
 * Runs `listen` and explains its failure.
 *
 * @throws StartupError if `listen` fails because the port is taken or not allowed
 */
export async function explainingFailure<T>({ host, port }: Address, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const where = `${host}:${port}`
    if (code === 'EADDRINUSE') {
      throw new StartupError(
        `Port ${port} is already in use by another program, on ${where}.`,
        'Stop it, or choose another port with HUB_PORT or --port (0 lets the system choose).',
        { cause },
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new StartupError(
        `The Hub is not permitted to listen on ${where} (${code}).`,
        'Set HUB_PORT to a port above 1023 and HUB_HOST to an address of this machine.',
        { cause },
      )
    }
    throw cause
  }
}
