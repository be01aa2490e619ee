import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { scaled } from '../machine-speed.ts'
import type { GeneratedRequest } from './generate.ts'

/** An answer as it came over the wire. Header names are in lower case. */
export interface WireResponse {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface Sender {
  /** Every answer that came back: one, or for broken HTTP none or several. */
  send(request: GeneratedRequest): Promise<WireResponse[]>
  close(): void
}

const answerMsMax = scaled(30_000)
/** A connection of broken HTTP is looked at for so long when the service neither answers nor closes it. */
const silenceMs = 1_500

export function createSender(baseUrl: string): Sender {
  const { hostname, port, host } = new URL(baseUrl)
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const target = { hostname, port: Number(port) }

  async function sendPlain(request: GeneratedRequest, mayRepeat = true): Promise<WireResponse[]> {
    const headers = ['Host', host, ...request.headers.flat()]
    if (request.body) headers.push('Content-Length', String(request.body.length))
    const outgoing = httpRequest({
      ...target,
      agent,
      method: request.method,
      path: request.target,
      headers: headers as unknown as Record<string, string>,
      timeout: answerMsMax,
    })
    try {
      return [await answerTo(outgoing, request.body)]
    } catch (error) {
      // An idle connection that the service closes at this moment says nothing about the request.
      if (mayRepeat && outgoing.reusedSocket && (error as { code?: string }).code === 'ECONNRESET') {
        return sendPlain(request, false)
      }
      throw error
    }
  }

  return {
    send: (request) => (request.raw ? sendRaw(target, request.raw) : sendPlain(request)),
    close: () => agent.destroy(),
  }
}

function answerTo(outgoing: ReturnType<typeof httpRequest>, body: Buffer | undefined): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const headers: Record<string, string> = {}
        for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value)
        resolve({ status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Sends bytes, then closes its half, and reads until the service closes the other. */
function sendRaw(target: { hostname: string; port: number }, bytes: Buffer): Promise<WireResponse[]> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: target.hostname, port: target.port, allowHalfOpen: true })
    const settle = () => {
      socket.destroy()
      resolve(answersIn(Buffer.concat(chunks)))
    }
    socket.setTimeout(silenceMs, settle)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', settle).on('close', settle).on('error', settle)
    socket.end(bytes)
  })
}

/** Splits what came back into answers. Those to HEAD have no body, which the next status line shows. */
function answersIn(bytes: Buffer): WireResponse[] {
  const answers: WireResponse[] = []
  let at = 0
  while (at < bytes.length) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1])
    at = headEnd + 4
    const hasBody = bytes.toString('latin1', at, at + 9) !== 'HTTP/1.1 ' && status >= 200
    const length = hasBody ? Number(headers['content-length'] ?? bytes.length - at) : 0
    if (status >= 200 || Number.isNaN(status)) answers.push({ status, headers, body: bytes.subarray(at, at + length) })
    at += length
  }
  return answers
}
