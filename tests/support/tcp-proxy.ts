import { once } from 'node:events'
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>

/** An address that passes connections to a target, and can do to them what networks do. */
export async function startTcpProxy(firstTarget: NetConnectOpts) {
  const sockets = new Set<Socket>()
  /** Connections whose bytes nobody passes on or refuses any more, as behind a firewall that has forgotten them. */
  const forgotten = new WeakSet<Socket>()
  let target = firstTarget
  let isStalled = false
  let isSlow = false
  let delayMs = 0
  const server = createServer((incoming) => {
    const outgoing = connect(target)
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      let waiting = 0
      const pass = (act: () => void) => {
        if (forgotten.has(socket)) return
        // When the delay ends, a piece may not overtake those that still wait.
        if (!isSlow && waiting === 0) return act()
        waiting++
        setTimeout(() => {
          waiting--
          act()
        }, delayMs)
      }
      sockets.add(socket)
      if (isStalled) socket.pause()
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        pass(() => other.destroy())
      })
      socket.on('data', (bytes) => pass(() => void other.write(bytes)))
      socket.on('end', () => pass(() => other.end()))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as { port: number }).port,
    /** Passes nothing on, for connections old and new, until the returned function is called. */
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
      return () => {
        isStalled = false
        for (const socket of sockets) socket.resume()
      }
    },
    /** Passes each piece on so many milliseconds later, until the returned function is called. */
    delay(ms: number) {
      ;[isSlow, delayMs] = [true, ms]
      return () => {
        isSlow = false
      }
    },
    /** Ends all connections, and passes new ones to another target. */
    moveTo(other: NetConnectOpts) {
      target = other
      destroyAll()
    },
    /** Passes nothing on any more between the ends of the connections that are open now, and tells neither end. */
    forget() {
      for (const socket of sockets) forgotten.add(socket)
    },
    /** Ends the connections that were forgotten. */
    destroyForgotten() {
      for (const socket of sockets) if (forgotten.has(socket)) socket.destroy()
    },
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
