import type { Response as UndiciResponse } from 'undici'
import { OutboundError } from './outbound-error.ts'

const redirects = new Set([301, 302, 303, 307, 308])
/** Statuses without a body (Fetch standard, "null body status"); `Response` accepts none for them. */
const withoutBody = new Set([204, 205, 304])

/**
 * Returns the response with its whole body in memory. Throws OutboundError for a redirect, and for more than
 * `bytesMax`.
 */
export async function readBoundedResponse(answer: UndiciResponse, bytesMax: number): Promise<Response> {
  if (redirects.has(answer.status)) {
    await answer.body?.cancel()
    throw new OutboundError('redirect', `answered with a redirect (${answer.status}), which the Hub does not follow`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream, which closes the connection.
    if (bytes > bytesMax) throw new OutboundError('too-large', `answered with more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  const headers = new Headers([...answer.headers])
  // The body is already inflated.
  headers.delete('content-encoding')
  headers.delete('content-length')
  const body = withoutBody.has(answer.status) ? null : Buffer.concat(chunks)
  return new Response(body, { status: answer.status, headers })
}
