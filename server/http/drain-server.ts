import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

/** Milliseconds between the last response on a connection and a next request on it. */
const idleGraceMs = 500

/**
 * Makes a server that can be drained. Call it before its first connection.
 *
 * @returns a function that closes the listener, if any, at once, and ends connections in use with their next response,
 * which has `Connection: close`. Idle connections are closed later: under load a connection between two requests looks
 * idle, and closing it would break a request in transit. After `drainSeconds` all remaining connections are closed.
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
    // Closes after the next read: if this process was busy, a connection that looks idle may already have a request.
    const idle = setTimeout(() => setImmediate(closeIdleConnections), idleGraceMs)
    const cut = setTimeout(() => {
      const { drainSeconds: seconds, log } = options
      log.warn({ seconds }, 'requests took longer than the drain time; closing their connections')
      server.closeAllConnections()
    }, options.drainSeconds * 1000)
    try {
      await app.close()
      // A server that gets its connections from elsewhere does not wait for them itself.
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
