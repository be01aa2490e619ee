import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of concurrently handled requests of one connection. */
const handledMax = 4
/** Maximum number of further waiting requests; above it the connection is closed. */
const waitingMax = 100

type Exchange = readonly [IncomingMessage, ServerResponse]

/**
 * Handles the pipelined requests of a connection (RFC 9112, section 9.3.2) a few at a time, in turns with other work.
 * Node emits all requests that it finds in 64 KiB at once, which is a thousand small ones. Call it after all other
 * listeners were added.
 */
export function boundPipelining(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[]
  const connections = new WeakMap<Socket, PipelinedRequests>()
  server.removeAllListeners('request')
  server.on('request', (...exchange: Exchange) => {
    const { socket } = exchange[0]
    const requests = connections.get(socket) ?? new PipelinedRequests(socket, server, listeners)
    connections.set(socket, requests)
    requests.add(exchange)
  })
}

class PipelinedRequests {
  readonly #socket: Socket
  readonly #server: Server
  readonly #listeners: readonly RequestListener[]
  readonly #waiting: Exchange[] = []
  #handled = 0
  #isNextTurnPlanned = false

  constructor(socket: Socket, server: Server, listeners: readonly RequestListener[]) {
    this.#socket = socket
    this.#server = server
    this.#listeners = listeners
  }

  add(exchange: Exchange): void {
    if (this.#handled < handledMax && this.#waiting.length === 0) this.#handle(exchange)
    else if (this.#waiting.length < waitingMax) this.#waiting.push(exchange)
    else this.#socket.destroy()
  }

  #handle([request, response]: Exchange): void {
    this.#handled++
    response.once('close', () => {
      this.#handled--
      if (this.#waiting.length === 0 || this.#isNextTurnPlanned) return
      this.#isNextTurnPlanned = true
      setImmediate(() => this.#handleWaiting())
    })
    for (const listener of this.#listeners) listener.call(this.#server, request, response)
  }

  #handleWaiting(): void {
    this.#isNextTurnPlanned = false
    if (this.#socket.destroyed) this.#waiting.length = 0
    while (this.#handled < handledMax) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#handle(next)
    }
  }
}
