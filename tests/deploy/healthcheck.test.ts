import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMetricsPage } from '../../server/metrics/metrics-page.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { root } from './dockerfile.ts'

let hub: TestHub
let port: string
let page: Awaited<ReturnType<typeof openMetricsPage>>
beforeAll(async () => {
  hub = await startHub()
  port = new URL(hub.baseUrl).port
  page = await openMetricsPage({ port: 0, isChosen: true, log: { info: () => {}, warn: () => {} } })
})
afterAll(async () => {
  page?.close()
  await hub?.stop()
})

async function check(env: Record<string, string>, ...args: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [join(root, 'deploy/healthcheck.mjs'), ...args], { env })
  let said = ''
  child.stderr.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  return { code, said }
}
const nobody = '1'

test('a process that serves requests is asked for its health', async () => {
  expect(await check({ HUB_PORT: port, HUB_METRICS_PORT: nobody })).toEqual({ code: 0, said: '' })
  expect(await check({ HUB_PORT: nobody, HUB_METRICS_PORT: String(page!.port) })).toEqual({
    code: 1,
    said: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/v1\/health: /),
  })
})

test('a worker, and any process that is asked whether it lives, by its metrics page', async () => {
  const metrics = { HUB_METRICS_PORT: String(page!.port), HUB_PORT: nobody }
  expect(await check({ ...metrics, HUB_ROLE: 'worker' })).toEqual({ code: 0, said: '' })
  expect(await check(metrics, 'live')).toEqual({ code: 0, said: '' })
  expect(await check({ HUB_PORT: port, HUB_METRICS_PORT: nobody }, 'live')).toMatchObject({ code: 1 })
})

test('a status other than 200 is not healthy', async () => {
  // The page of the API has no /metrics.
  expect(await check({ HUB_METRICS_PORT: port }, 'live')).toEqual({
    code: 1,
    said: `http://127.0.0.1:${port}/metrics: status 404\n`,
  })
})
