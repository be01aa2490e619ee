import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { DomainError } from '../../contract/domain-error.ts'
import { problemDocument } from './problem-document.ts'
import { requestIdHeader } from './request-headers.ts'

const lingerMs = 1000

/**
 * Writes a problem document to a connection without a request, and closes it.
 *
 * @param headers common headers of every response
 * @param withoutBody for a HEAD request
 */
export function endWithProblem(
  socket: Socket,
  error: DomainError,
  { baseUrl, headers, withoutBody = false }: { baseUrl: string; headers: CommonHeaders; withoutBody?: boolean },
): void {
  socket.end(rawResponse(error, baseUrl, headers, withoutBody))
  // Closing with unread bytes would reset the connection, and the client might never see the response.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

type CommonHeaders = Readonly<Record<string, string>>

function rawResponse(error: DomainError, baseUrl: string, common: CommonHeaders, withoutBody: boolean): string {
  const requestId = randomUUIDv7()
  const document = problemDocument(error, baseUrl, requestId)
  const body = JSON.stringify(document)
  const headers = {
    ...common,
    [requestIdHeader]: requestId,
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${document.status} ${document.title}\r\n${lines.join('\r\n')}\r\n\r\n${withoutBody ? '' : body}`
}
