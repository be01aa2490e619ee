/**
 * Exits with 0 if the Hub of this container answers, else with 1:
 *
 *     node deploy/healthcheck.mjs [live]
 *
 * A process that serves requests is healthy while `GET /v1/health` is 200. With `live`, and for the role `worker`, which
 * listens on no port for clients, an answer of the metrics page is enough: it needs no database, and a restart would not
 * bring a database back.
 */
const { HUB_ROLE: role = 'all', HUB_PORT: port = '8080', HUB_METRICS_PORT: metricsPort = '9464' } = process.env
const isLive = role === 'worker' || process.argv[2] === 'live'
const address = isLive ? `http://127.0.0.1:${metricsPort}/metrics` : `http://127.0.0.1:${port}/v1/health`
const timeoutMs = 4_000

try {
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`status ${response.status}`)
} catch (error) {
  console.error(`${address}: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
}
