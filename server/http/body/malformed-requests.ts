import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { DomainError } from '../../../contract/domain-error.ts'
import { endWithProblem } from '../socket-response.ts'

/**
 * Answers requests that Node's parser rejects, which never reach a route, with problem documents and the common
 * headers.
 */
export function handleMalformedRequests(
  server: Server,
  baseUrl: () => string,
  headers: Readonly<Record<string, string>>,
): void {
  // The size of headers is bounded; by default Node silently drops those after the 2,000th.
  server.maxHeadersCount = 0
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1); Node would send an empty 417.
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
    endWithProblem(socket, asProblem(error), { baseUrl: baseUrl(), headers, withoutBody: isHead(error) })
  })
}

/** Returns whether a response has started on this socket; another must not be written into it. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  return message?.headersSent === true
}

function asProblem(error: NodeJS.ErrnoException): DomainError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new DomainError('headers-too-large', 'The header fields exceed 16 KiB.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new DomainError('payload-too-large', 'The extensions of the body’s chunks are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('validation-failed', 'The request did not arrive in time.', { errors: [] })
    default:
      return new DomainError('validation-failed', 'This is not a valid HTTP/1.1 request.', { errors: [] })
  }
}

/**
 * Returns whether the method is HEAD, whose response has no body. The first bytes of an unreadable request may still
 * name the method.
 */
function isHead(error: Error & { rawPacket?: Buffer }): boolean {
  return error.rawPacket?.toString('latin1', 0, 5) === 'HEAD '
}
