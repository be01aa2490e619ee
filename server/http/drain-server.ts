import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

/** Between the answer that ends a connection's work and the next request on it. */
const idleGraceMs = 500

/**
 * Makes a server that can be drained. Call it before its first connection.
 *
 * @returns closes the listener, where there is one, at once and lets connections that are in use end with their next
 *   answer, which says `Connection: close`. Only then closes those that are idle: under load a connection between two
 *   requests looks idle, and closing it would break the request that is on its way. Whatever is open after
 *   `drainSeconds` is cut off.
 */
export function drainable(
  app: FastifyInstance,
  options: { drainSeconds: number; log: Pick<FastifyBaseLogger, 'warn'> },
): () => Promise<void> {
  const { server } = app
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })

  return async () => {
    const closeIdleConnections = server.closeIdleConnections.bind(server)
    server.closeIdleConnections = () => {}
    // After the next reading: where this process was busy, the request of a connection that looks idle is there already.
    const idle = setTimeout(() => setImmediate(closeIdleConnections), idleGraceMs)
    const cut = setTimeout(() => {
      const { drainSeconds: seconds, log } = options
      log.warn({ seconds }, 'requests took longer than the drain time; closing their connections')
      server.closeAllConnections()
    }, options.drainSeconds * 1000)
    try {
      await app.close()
      // A server that does not listen itself, because its connections are handed to it, does not wait for them.
      while (open.size > 0) await closingOf(open)
    } finally {
      clearTimeout(idle)
      clearTimeout(cut)
    }
  }
}

function closingOf(sockets: Set<Socket>): Promise<void> {
  const [socket] = sockets
  return new Promise((resolve) => {
    if (socket === undefined) resolve()
    else socket.once('close', () => resolve())
  })
}
