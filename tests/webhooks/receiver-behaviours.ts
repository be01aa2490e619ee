import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a receiver does with a request that it has read to its end. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void

const chunk = Buffer.alloc(64 * 1024, 'x')

/** Answers at once, and waits for the whole request first. */
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body)

export const take: Behaviour = answer(200, { 'content-type': 'text/plain' }, 'taken')

export const redirectTo = (location: string, status = 302): Behaviour => answer(status, { location })

/** Keeps the request waiting until the caller leaves, or the receiver stops. */
export const hang: Behaviour = () => {}

export const answerAfter =
  (ms: number, then: Behaviour = take): Behaviour =>
  (response, request) => {
    const timer = setTimeout(() => then(response, request), ms)
    response.once('close', () => clearTimeout(timer))
  }

/** Takes it, and then never ends its body. */
export const streamForever: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' })
  keepWriting(response, () => response.write(chunk))
}

/** Takes it, and then sends a byte of its body now and then. */
export const dripBody =
  (everyMs: number): Behaviour =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    repeat(response, everyMs, () => void response.write('x'))
  }

/** Headers without end. */
export const floodHead: Behaviour = (response) => {
  const { socket } = response
  if (!socket) return
  socket.write('HTTP/1.1 200 OK\r\n')
  const header = Buffer.from(`x-more: ${'x'.repeat(1000)}\r\n`)
  keepWriting(socket, () => socket.write(header))
}

/** A byte of the head now and then, and never the last. */
export const dripHead =
  (everyMs: number): Behaviour =>
  (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: ')
    repeat(response, everyMs, () => void response.socket?.write('x'))
  }

/** Interim answers (RFC 9110 section 15.2) without end. */
export const earlyHintsForever =
  (everyMs: number): Behaviour =>
  (response) =>
    repeat(response, everyMs, () => void response.socket?.write('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n'))

/** Once it has the request. See also `Receiver.refusing` for a connection that is closed before. */
export const closeAtOnce: Behaviour = (response) => void response.socket?.destroy()

export const resetAtOnce: Behaviour = (response) => void response.socket?.resetAndDestroy()

export const closeInHead: Behaviour = (response) =>
  void response.socket?.write('HTTP/1.1 200 OK\r\ncontent-le', () => response.socket?.destroy())

/** Took it, as far as its head says. */
export const closeInBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '1000' })
  response.write('only this', () => response.socket?.destroy())
}

export const notHttp: Behaviour = (response) => void response.socket?.end('220 mail.example ESMTP\r\n')

/** The first of them for the first request, and so on; the last one for all that follow. */
export function inTurn(...behaviours: readonly Behaviour[]): Behaviour {
  let at = 0
  return (response, request) => behaviours[Math.min(at++, behaviours.length - 1)]?.(response, request)
}

function repeat(response: ServerResponse, everyMs: number, act: () => void): void {
  const timer = setInterval(act, everyMs)
  response.once('close', () => clearInterval(timer))
}

function keepWriting(stream: NodeJS.WritableStream & { destroyed: boolean }, write: () => boolean): void {
  const more = () => {
    while (!stream.destroyed && write());
    if (!stream.destroyed) stream.once('drain', more)
  }
  more()
}
