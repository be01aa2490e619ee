import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import type { ConnectionTarget } from '../../server/db/connection-settings.ts'

/** What stands between a Hub and its database, and can fail as a network does. */
export interface DatabaseGate {
  /** Through the gate. */
  target(direct: ConnectionTarget): ConnectionTarget
  /** Breaks every connection and takes no new one. */
  shut(): void
  /** Takes connections and bytes and passes nothing on, in either direction. */
  hold(): void
  open(): void
  /** When it turned connections away, in milliseconds. */
  refusedAt(): readonly number[]
  close(): Promise<void>
}

export async function startDatabaseGate(server: ConnectionTarget): Promise<DatabaseGate> {
  const sockets = new Set<Socket>()
  const refusedAt: number[] = []
  let state: 'open' | 'shut' | 'held' = 'open'
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const gate = createServer((near) => {
    keep(near)
    if (state === 'shut') {
      refusedAt.push(performance.now())
      return near.destroy()
    }
    const { host = 'localhost', port = 5432 } = server
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    keep(far)
    near.pipe(far)
    far.pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    if (state === 'held') for (const socket of [near, far]) socket.pause()
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const { port } = gate.address() as AddressInfo
  return {
    target: (direct) => ({ ...direct, host: '127.0.0.1', port }),
    shut() {
      state = 'shut'
      for (const socket of sockets) socket.destroy()
    },
    hold() {
      state = 'held'
      for (const socket of sockets) socket.pause()
    },
    open() {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
    refusedAt: () => refusedAt,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => gate.close(resolve))
    },
  }
}
