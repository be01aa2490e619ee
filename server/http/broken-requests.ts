import { randomUUIDv7 } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { DomainError } from '../../contract/domain-error.ts'
import { problemDocument } from './problem-document.ts'
import { requestIdHeader } from './request-id.ts'

const lingerMs = 1000

/** Answers with problem documents, and the headers of every answer, what Node's parser refuses: it never becomes a request. */
export function answerBrokenRequests(
  server: Server,
  baseUrl: () => string,
  headers: Readonly<Record<string, string>>,
): void {
  // Their size is bounded; by default Node drops, in silence, those after the 2,000th.
  server.maxHeadersCount = 0
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1); Node would answer an empty 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  const answered = new WeakSet<Socket>()
  server.removeAllListeners('clientError')
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (answered.has(socket)) return
    answered.add(socket)
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    socket.end(rawAnswer(asProblem(error), baseUrl(), headers, isHead(error)))
    // Closing while bytes are unread would reset the connection, and the client might never see the answer.
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}

/** Whether an answer is on its way on this socket, into which another must not be written. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  return message?.headersSent === true
}

function asProblem(error: NodeJS.ErrnoException): DomainError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError('headers-too-large', 'The header fields are larger than 16 KiB together.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new DomainError('payload-too-large', 'The extensions of the body’s chunks are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('validation-failed', 'The request did not arrive in time.', { errors: [] })
    default:
      return new DomainError('validation-failed', 'This is not an HTTP/1.1 request that can be read.', { errors: [] })
  }
}

/** An answer to HEAD has no body. Of what cannot be read, the first bytes may still tell the method. */
function isHead(error: Error & { rawPacket?: Buffer }): boolean {
  return error.rawPacket?.toString('latin1', 0, 5) === 'HEAD '
}

function rawAnswer(
  error: DomainError,
  baseUrl: string,
  common: Readonly<Record<string, string>>,
  withoutBody: boolean,
): string {
  const requestId = randomUUIDv7()
  const document = problemDocument(error, baseUrl, requestId)
  const body = JSON.stringify(document)
  const headers = {
    ...common,
    [requestIdHeader]: requestId,
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${document.status} ${document.title}\r\n${lines.join('\r\n')}\r\n\r\n${withoutBody ? '' : body}`
}
