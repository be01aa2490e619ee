import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeProtobuf } from '../../server/modules/otlp/decode/protobuf-decoder.ts'
import type { OtlpItem, Signal } from '../../server/modules/otlp/otlp-types.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { patience, scaled } from '../support/machine-speed.ts'

const wanted = new Set(['service.name', 'deployment.environment', 'hub.statement', 'route'])

/** Receives what an exporter sends, and decodes it with the receiver of the Hub. */
async function startReceiver() {
  const items: Record<Signal, OtlpItem[]> = { traces: [], logs: [] }
  const keys: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const signal = request.url === '/v1/logs' ? 'logs' : 'traces'
    keys.push(request.headers['x-key'] as string | undefined)
    const decoding = decodeProtobuf(Buffer.concat(chunks), signal, wanted)
    let step = decoding.next()
    while (!step.done) step = decoding.next()
    items[signal].push(...step.value)
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, items, keys, close: () => server.close() }
}

test('the Hub exports traces and logs of requests and jobs to an OTLP receiver', async () => {
  const receiver = await startReceiver()
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-otel-'))
  const hub = await startHubProcess(dataDir, {
    ...{ HUB_LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k1' },
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const { traces, logs } = receiver.items
  try {
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, 'x-service-request-id': crypto.randomUUID() }
    expect((await fetch(`${hub.url}/v1/health`, { headers })).status).toBe(200)
    await fetch(`${hub.url}/oauth/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ client_id: 'nobody' }),
    })
    // Its first job runs soon after the start.
    await expect.poll(() => traces.map(({ name }) => name), patience).toContain('job housekeeping')
  } finally {
    // The end sends what waits.
    await hub.stop()
  }
  receiver.close()
  await rm(dataDir, { recursive: true, force: true })

  const mine = traces.filter((span) => span.traceId === traceId)
  const request = mine.find(({ name }) => name === 'GET /v1/health')
  expect(request).toMatchObject({ parentSpanId: 'b7ad6b7169203331', isError: false })
  expect(request!.endNanos).toBeGreaterThan(request!.startNanos)
  const of = (item: OtlpItem | undefined, name: string) => item?.attributes.get(name)
  expect(of(request, 'service.name')).toBe('org-memory-hub')
  expect(of(request, 'deployment.environment')).toBe('test')
  expect(new Set(receiver.keys)).toEqual(new Set(['k1']))

  const line = logs.find((record) => record.traceId === traceId && record.spanId === request!.spanId)
  expect(of(line, 'route')).toBe('/v1/health')
  const statement = traces.find((span) => of(span, 'hub.statement') !== undefined)
  expect(traces.map(({ spanId }) => spanId)).toContain(statement?.parentSpanId)
})

test('a receiver that never answers does not keep the processes from stopping', {
  timeout: scaled(120_000),
}, async () => {
  const requests: string[] = []
  const server = createServer((request) => {
    requests.push(request.url!)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-otel-'))
  // The exporter itself would wait for longer than this test.
  const patient = {
    OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
    OTEL_BSP_EXPORT_TIMEOUT: '3600000',
    OTEL_BLRP_EXPORT_TIMEOUT: '3600000',
  }
  const { port } = server.address() as AddressInfo
  const hub = await startHubProcess(dataDir, {
    ...{ ...patient, OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_BLRP_SCHEDULE_DELAY: '50', HUB_WORKERS: '2' },
    ...{ HUB_LOG_LEVEL: 'info', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
  })
  try {
    expect((await fetch(`${hub.url}/v1/health`)).status).toBe(200)
    await expect.poll(() => new Set(requests), patience).toEqual(new Set(['/v1/traces', '/v1/logs']))
  } finally {
    await hub.stop()
    server.closeAllConnections()
    server.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})
