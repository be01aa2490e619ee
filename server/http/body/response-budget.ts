import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Minimum bytes of a counted response: the number of connections suffices to bound smaller ones. */
const countedBytesMin = 64 * 1024

/** Bounds the memory of large responses that their readers have not accepted yet. */
export interface ResponseBudget {
  /**
   * Counts a response until it is handed over, or its connection is closed. If the total exceeds the budget, closes
   * connections of the reader with the most bytes, the longest waiting first.
   */
  hold(reader: string, bytes: number, answer: ServerResponse, socket: Pick<Socket, 'destroy'>): void
}

interface Held {
  bytes: number
  socket: Pick<Socket, 'destroy'>
}

interface Reader {
  bytes: number
  /** Held responses, the oldest first. */
  answers: Set<Held>
}

export function createResponseBudget(bytesMax: number, onClosed: () => void = () => {}): ResponseBudget {
  const readers = new Map<string, Reader>()
  let heldOfAll = 0

  function release(name: string, held: Held): void {
    const reader = readers.get(name)
    if (!reader?.answers.delete(held)) return
    reader.bytes -= held.bytes
    heldOfAll -= held.bytes
    if (reader.answers.size === 0) readers.delete(name)
  }

  function closeOldest(): void {
    const [largest] = [...readers].sort(([, a], [, b]) => b.bytes - a.bytes)
    const [name, reader] = largest!
    const [oldest] = reader.answers
    release(name, oldest!)
    oldest!.socket.destroy()
    onClosed()
  }

  return {
    hold(name, bytes, answer, socket) {
      if (bytes < countedBytesMin || answer.closed) return
      const held = { bytes, socket }
      const reader = readers.get(name) ?? { bytes: 0, answers: new Set() }
      readers.set(name, reader)
      reader.answers.add(held)
      reader.bytes += bytes
      heldOfAll += bytes
      answer.once('close', () => release(name, held))
      while (heldOfAll > bytesMax && readers.size > 0) closeOldest()
    },
  }
}

/**
 * Counts the responses of a server against a budget. Streamed responses need no count, because they wait for their
 * readers.
 */
export function limitResponses(app: FastifyInstance, budget: ResponseBudget): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { socket } = request.raw
    // A request of this process, which tools of agents inject, has no connection and reads its response at once.
    if (typeof socket.destroy === 'function' && (typeof payload === 'string' || Buffer.isBuffer(payload))) {
      // The bytes of a text are known only when it is written; its characters are a close estimate.
      const reader = request.hubTenant?.slug ?? `address ${request.callerAddress}`
      budget.hold(reader, payload.length, reply.raw, socket)
    }
    done(null, payload)
  })
}
