import { type Connection, signatureOf } from '../../inbound/inbound-lab.ts'
import type { GeneratedRequest } from './generate.ts'

/** Signs most of the messages to a known connection, as they are sent: a signature is of its time. */
export function signerOf(connections: readonly Connection[]): (request: GeneratedRequest) => GeneratedRequest {
  const secrets = new Map(connections.map(({ connectionId, secret }) => [connectionId, secret]))
  return (request) => {
    const secret = secrets.get(request.target.split('?', 1)[0]?.split('/').at(-1) ?? '')
    const isRight = request.operation.operationId === 'receiveInbound' && request.raw === undefined
    if (!isRight || secret === undefined || request.index % 5 === 0) return request
    const signature = signatureOf(request.body ?? Buffer.alloc(0), secret)
    return { ...request, headers: [...request.headers, ['X-Service-Signature', signature]] }
  }
}
