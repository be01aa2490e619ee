import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between a target's last new connection and the moment when it may stop: clients close idle ones before. */
const restMs = 5_000

/** One address before several processes. It passes each new connection to the next target, as a Service of Kubernetes. */
export async function startLoadBalancer() {
  let targets: number[] = []
  let turn = 0
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(targets[turn++ % targets.length]!, '127.0.0.1')
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => other.destroy())
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    add(port: number) {
      targets = [...targets, port]
    },
    /** Takes a target out, and gives its connections the time that `preStop` of `deploy/kubernetes` gives them. */
    async remove(port: number) {
      targets = targets.filter((each) => each !== port)
      await delay(restMs)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
