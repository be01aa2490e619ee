import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartupError } from '../../server/startup-error.ts'
import { NotSignedInError } from './login-errors.ts'

const path = '/callback'
const waitMs = 10 * 60_000

/** Receives the response of the authorization server on this machine (RFC 8252, section 7.3). */
export interface LoopbackListener {
  redirectUri: string
  /** Resolves with the address of the response to the request with this state; others are refused and change nothing. */
  response(state: string): Promise<URL>
  close(): void
}

/** Listens on 127.0.0.1. @param port 0 for a free one */
export async function listenForResponse(port: number): Promise<LoopbackListener> {
  const received = Promise.withResolvers<URL>()
  let expected: string | undefined
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', origin())
    // Any page in the browser can call this port; only the Hub knows the state.
    if (request.method !== 'GET' || url?.pathname !== path) return answer(response, 404, 'There is nothing here.')
    if (expected === undefined || url.searchParams.get('state') !== expected) {
      return answer(response, 400, 'This is not the response that hub login waits for.')
    }
    answer(response, 200, 'You can close this page and return to the terminal.')
    received.resolve(url)
  })
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Port ${port} of this machine cannot be used: ${cause.message}.`
      reject(new StartupError(message, 'Choose another one with --port, or leave it out.', { cause }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    redirectUri: `${origin()}${path}`,
    async response(state) {
      expected = state
      const timer = setTimeout(
        () => received.reject(new NotSignedInError('Nobody signed in within 10 minutes.')),
        waitMs,
      )
      return received.promise.finally(() => clearTimeout(timer))
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function answer(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    })
    .end(`<!doctype html><html lang="en"><title>Org-Memory Hub</title><h1>Org-Memory Hub</h1><p>${text}</p></html>\n`)
}
