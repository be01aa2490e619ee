import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Returns the address of a server that lives as long as the test. */
export async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface StubRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** Answers each request with the next of `answers`, and with the last one for good. Returns what was requested. */
export async function stubHub(...answers: ((response: ServerResponse, request: StubRequest) => void)[]) {
  const requests: StubRequest[] = []
  const baseUrl = await serve(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
    requests.push(request)
    const answer = answers[Math.min(requests.length, answers.length) - 1]!
    answer(response, request)
  })
  return { baseUrl, requests }
}

export const answerJson =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const answerProblem = (status: number, slug: string, headers: Record<string, string> = {}) =>
  answerJson(status, { type: `https://hub.example.com/errors/${slug}`, title: slug, status, detail: 'd' }, headers)
