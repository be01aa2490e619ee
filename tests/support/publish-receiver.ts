import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scaled } from './machine-speed.ts'

/** A request as the receiver got it. */
export interface ReceivedPublish {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  body: any
  /** Milliseconds since the epoch. */
  atMs: number
}

/** What it does with a request: a status to answer, or anything else. */
export type Behaviour = number | ((response: ServerResponse, request: ReceivedPublish) => void)

/** A platform that takes skill manifests over HTTP on 127.0.0.1. */
export interface PublishReceiver {
  url: string
  received: ReceivedPublish[]
  /** Of requests to come; 200 at first. */
  behaviour: Behaviour
  /** Resolves once so many were received in all. */
  count(count: number, withinMs?: number): Promise<ReceivedPublish[]>
  stop(): Promise<void>
}

/** Keeps the request waiting until the receiver stops, or the caller leaves. */
export const hang: Behaviour = () => {}

/** Answers and goes on answering. */
export const streamForever: Behaviour = (response) => {
  response.writeHead(200)
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

export const closeAtOnce: Behaviour = (response) => void response.socket?.destroy()

export const redirectTo =
  (location: string): Behaviour =>
  (response) =>
    response.writeHead(302, { location }).end()

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body)

export async function startPublishReceiver(behaviour: Behaviour = 200): Promise<PublishReceiver> {
  const waiting: { count: number; done: () => void }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const isJson = request.headers['content-type'] === 'application/json'
    const got = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
      atMs: Date.now(),
    }
    receiver.received.push(got)
    for (const { count, done } of waiting) if (receiver.received.length >= count) done()
    if (typeof receiver.behaviour === 'number') response.writeHead(receiver.behaviour).end()
    else receiver.behaviour(response, got)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: PublishReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/skills`,
    received: [],
    behaviour,
    async count(count, withinMs = scaled(30_000)) {
      if (receiver.received.length >= count) return receiver.received
      await new Promise<void>((resolve, reject) => {
        const late = () => reject(new Error(`received ${receiver.received.length} of ${count} in ${withinMs} ms`))
        const timer = setTimeout(late, withinMs)
        waiting.push({
          count,
          done: () => {
            clearTimeout(timer)
            resolve()
          },
        })
      })
      return receiver.received
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
