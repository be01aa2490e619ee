import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createOutbound } from '../../server/outbound/outbound.ts'
import { runAs, useTracer } from '../../server/tracing/current-work.ts'
import { recordSpans } from './recorded-spans.ts'

const received: { traceparent: string | undefined; own: string | undefined }[] = []
let server: Server
let url: string
const outbound = createOutbound({ environment: 'development', outboundAllow: ['127.0.0.1'] })
beforeAll(async () => {
  server = createServer(({ headers }, response) => {
    received.push({
      traceparent: headers.traceparent as string | undefined,
      own: headers['x-own'] as string | undefined,
    })
    response.writeHead(418).end('no')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret?key=secret`
})
afterEach(() => {
  useTracer(undefined)
  received.length = 0
})
afterAll(async () => {
  await outbound.close()
  server.close()
})

const headers = { 'x-own': 'kept' }
const calls: Record<string, () => Promise<unknown>> = {
  post: () => outbound.post(url, { headers, body: Buffer.from('{}') }),
  fetch: () => outbound.fetch(url, { method: 'POST', headers, body: '{}' }),
}

test.each(Object.entries(calls))('%s passes the trace on, and shows host and status only', async (_, call) => {
  const spans = recordSpans()
  const parent = { traceparent: '', set: () => {}, end: () => {} }
  await runAs({ operation: 'chore', span: parent }, call)
  expect(spans).toHaveLength(1)
  expect(spans[0]).toMatchObject({ kind: 'client', name: 'POST', parent, failed: null })
  expect(spans[0]!.attributes).toEqual({
    'http.request.method': 'POST',
    'server.address': '127.0.0.1',
    'http.response.status_code': 418,
  })
  expect(received).toEqual([{ traceparent: spans[0]!.traceparent, own: 'kept' }])
})

test.each(Object.entries(calls))('%s sends no header while nothing is exported', async (_, call) => {
  await call()
  expect(received).toEqual([{ traceparent: undefined, own: 'kept' }])
})

test('a call that fails has an error without its text', async () => {
  const spans = recordSpans()
  await expect(outbound.fetch('http://127.0.0.1:1/')).rejects.toThrow()
  expect(spans[0]).toMatchObject({ failed: 'OutboundError' })
})
