import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DatabaseLog } from '../db/database.ts'
import { StartupError } from '../startup-error.ts'
import { metricsContentType } from './metrics.ts'

const loopback = '127.0.0.1'
/** The hosts that the page accepts. A web page whose domain resolves to this machine cannot read it. */
const ownHost = /^(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d+)?$/

export interface MetricsPage {
  readonly port: number
  /** Shows this page from now on. */
  show(page: () => Promise<string>): void
  close(): void
}

/**
 * Serves `GET /metrics` to programs of this machine, on a port of its own, so that clients of the API cannot reach it.
 *
 * @returns undefined if the port is in use and was not chosen explicitly
 * @throws StartupError if the chosen port is in use or not allowed
 */
export async function openMetricsPage(options: {
  /** The port; 0 lets the system choose. */
  port: number
  /** Whether an operator chose the port. */
  isChosen: boolean
  log: Pick<DatabaseLog, 'info' | 'warn'>
}): Promise<MetricsPage | undefined> {
  const { port, isChosen, log } = options
  let page = async () => ''
  const server = createServer((request, response) => {
    if (!ownHost.test(request.headers.host ?? '')) return answer(response, 403, 'Ask for 127.0.0.1 or localhost.\n')
    if (request.url?.split('?')[0] !== '/metrics') return answer(response, 404, 'Metrics are at /metrics.\n')
    if (request.method !== 'GET') return answer(response.setHeader('allow', 'GET'), 405, 'Metrics are read by GET.\n')
    page().then(
      (text) => answer(response, 200, text, metricsContentType),
      (error: unknown) => {
        log.warn({ err: error }, 'metrics could not be collected')
        answer(response, 500, 'Metrics could not be collected: see the log.\n')
      },
    )
  })
  try {
    await once(server.listen({ host: loopback, port }), 'listening')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (isChosen) throw unavailable(port, code, cause)
    log.warn({ port, code }, 'no metrics: the port is already in use; set HUB_METRICS_PORT to another one, or to off')
    return undefined
  }
  const address = server.address() as AddressInfo
  log.info({ url: `http://${loopback}:${address.port}/metrics` }, 'metrics')
  return {
    port: address.port,
    show: (next) => {
      page = next
    },
    close: () => close(server),
  }
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(text)
}

function close(server: Server): void {
  server.close()
  server.closeAllConnections()
}

function unavailable(port: number, code: string | undefined, cause: unknown): StartupError {
  const what = code === 'EADDRINUSE' ? 'is already in use by another program, on' : `may not be used (${code}):`
  return new StartupError(
    `Port ${port} for metrics ${what} ${loopback}:${port}.`,
    'Set HUB_METRICS_PORT to another port, to 0 (the system chooses, the log says which), or to off.',
    { cause },
  )
}
