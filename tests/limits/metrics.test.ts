import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WorkerMetrics } from '../../server/cluster/worker-metrics.ts'
import { loadConfig } from '../../server/config.ts'
import { MemoryRateLimiter } from '../../server/http/rate-limits/rate-limiter.ts'
import { countRequests } from '../../server/http/request-metrics.ts'
import { countDecisions } from '../../server/limits/counted-limiter.ts'
import { Metrics } from '../../server/metrics/metrics.ts'
import { openMetricsPage } from '../../server/metrics/metrics-page.ts'
import { ConfigError, StartupError } from '../../server/startup-error.ts'
import { runCli } from '../cli/run-cli.ts'
import { startHttpLab } from '../http/http-lab.ts'

const log = () => ({ info: vi.fn(), warn: vi.fn() })

async function openPage(options: Partial<Parameters<typeof openMetricsPage>[0]> = {}) {
  const page = await openMetricsPage({ port: 0, isChosen: true, log: log(), ...options })
  if (page) onTestFinished(() => page.close())
  return page
}

/** Series of the page by name and labels, of the Hub's own metrics. */
async function series(page: Promise<string>): Promise<Record<string, number>> {
  const lines = (await page).split('\n').filter((line) => line.startsWith('hub_'))
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

test('waits for database connections are shown by class, as they are when somebody looks', async () => {
  const metrics = new Metrics()
  const read = { waiting: 0, waited: 0, refused: 0, seconds: 0 }
  metrics.showDatabaseWaits(() => ({ read }))
  await metrics.page()
  Object.assign(read, { waiting: 3, waited: 7, refused: 2, seconds: 1.5 })
  expect(await series(metrics.page())).toMatchObject({
    'hub_database_waiting{class="read"}': 3,
    'hub_database_waits_total{class="read",outcome="granted"}': 7,
    'hub_database_waits_total{class="read",outcome="refused"}': 2,
    'hub_database_wait_seconds_total{class="read"}': 1.5,
  })
})

test('answers, tokens and decisions are counted by operation, status, class and outcome; no tenant is named', async () => {
  const metrics = new Metrics()
  const limiter = countDecisions(new MemoryRateLimiter(), metrics)
  const limitsOf = async () => ({ 'hub-read': { perToken: 2, perTenant: 100 } })
  const lab = await startHttpLab({ limiter, limitsOf }, (app) => countRequests(app, metrics))
  onTestFinished(() => lab.close())
  const statuses = []
  for (let time = 0; time < 3; time++) statuses.push((await lab.call('GET', '/api/v1/hub/records')).status)
  expect(statuses).toEqual([200, 200, 429])
  await lab.call('GET', '/api/v1/hub/records', { headers: { authorization: undefined } })
  await lab.call('GET', '/nowhere')
  const form = (secret: string) => ({
    body: `client_id=a&client_secret=${secret}`,
    headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect((await lab.call('POST', '/api/v1/oauth/token', form('right'))).status).toBe(200)
  expect((await lab.call('POST', '/api/v1/oauth/token', form('wrong'))).status).toBe(401)

  const text = await metrics.page()
  expect(await series(metrics.page())).toMatchObject({
    'hub_http_requests_total{operation="queryRecords",status="200"}': 2,
    'hub_http_requests_total{operation="queryRecords",status="429"}': 1,
    'hub_http_requests_total{operation="queryRecords",status="401"}': 1,
    'hub_http_requests_total{operation="none",status="404"}': 1,
    'hub_http_request_duration_seconds_count{operation="queryRecords"}': 4,
    'hub_token_issued_total{operation="issueServiceToken"}': 1,
    'hub_rate_limit_decisions_total{class="hub-read",outcome="allowed"}': 3,
    'hub_rate_limit_decisions_total{class="hub-read",outcome="refused"}': 1,
    hub_rate_limiter_fallback: 0,
  })
  expect(text).toContain('process_cpu_seconds_total')
  expect(text).not.toMatch(/acme|127\.0\.0\.1|nobody/)
})

describe('with workers', () => {
  test('the page has the series of each process, told apart by their label', async () => {
    const [primary, one, two] = [new Metrics('primary'), new Metrics('1'), new Metrics('2')]
    one.requestAnswered('queryRecords', 200, 0.004)
    two.requestAnswered('queryRecords', 200, 0.3)
    two.requestAnswered('queryRecords', 200, 0.3)
    primary.setLimiterFallback(true)
    two.rateLimitDecided('hub-read', 'allowed')
    const broken = await one.snapshot()
    broken
      .find((each) => each.name === 'nodejs_eventloop_lag_mean_seconds')
      ?.values.forEach((each) => {
        each.value = Number.NaN
      })
    // As on the way between processes.
    const snapshots = JSON.parse(JSON.stringify([broken, await two.snapshot()]))
    const text = await primary.page(snapshots)
    expect(await series(Promise.resolve(text))).toMatchObject({
      'hub_http_requests_total{operation="queryRecords",status="200",worker="1"}': 1,
      'hub_http_requests_total{operation="queryRecords",status="200",worker="2"}': 2,
      'hub_http_request_duration_seconds_bucket{le="0.005",operation="queryRecords",worker="1"}': 1,
      'hub_http_request_duration_seconds_bucket{le="0.25",operation="queryRecords",worker="2"}': 0,
      'hub_http_request_duration_seconds_sum{operation="queryRecords",worker="2"}': 0.6,
      'hub_rate_limiter_fallback{worker="primary"}': 1,
    })
    const wrong = text.split('\n').filter((line) => !/^($|# |[a-z0-9_]+(\{[^}]+\})? -?\d[\d.e+-]*$)/.test(line))
    expect(wrong).toEqual([])
    // One heading for each name, as the format demands.
    const headings = text.match(/^# TYPE \S+/gm) ?? []
    expect(new Set(headings).size).toBe(headings.length)
    expect(text.match(/^process_start_time_seconds\{/gm)).toHaveLength(3)
  })

  test('one that does not answer is left out', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const workers = new WorkerMetrics()
    const asked = workers.ask([
      ({ request: id }) => workers.hear({ kind: 'metrics-answer', request: id, metrics: [] }),
      () => {},
    ])
    await vi.advanceTimersByTimeAsync(1000)
    expect(await asked).toEqual([[]])
  })
})

describe('the page', () => {
  test('is at /metrics of this machine and nowhere else', async () => {
    const page = await openPage()
    page?.show(async () => 'hub_x 1\n')
    const url = `http://127.0.0.1:${page?.port}`
    const answer = await fetch(`${url}/metrics`)
    expect([answer.status, await answer.text()]).toEqual([200, 'hub_x 1\n'])
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect((await fetch(`${url}/`)).status).toBe(404)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    // What a page of the web sends whose name was made to lead here.
    const status = await new Promise((resolve) => {
      const headers = { host: `evil.example:${page?.port}` }
      request(`${url}/metrics`, { headers }, (got) => resolve(got.resume().statusCode)).end()
    })
    expect(status).toBe(403)
  })

  test('a failure is answered without its reason', async () => {
    const page = await openPage()
    page?.show(async () => {
      throw new Error('secret')
    })
    const answer = await fetch(`http://127.0.0.1:${page?.port}/metrics`)
    expect([answer.status, (await answer.text()).includes('secret')]).toEqual([500, false])
  })

  test('on a port that is taken: a warning for the default one, an error for a chosen one', async () => {
    const taken = (await openPage())?.port ?? 0
    const warned = log()
    expect(await openPage({ port: taken, isChosen: false, log: warned })).toBeUndefined()
    expect(warned.warn).toHaveBeenCalledTimes(1)
    await expect(openPage({ port: taken })).rejects.toThrow(StartupError)
    await expect(openPage({ port: taken })).rejects.toMatchObject({ fix: expect.stringContaining('HUB_METRICS_PORT') })
  })
})

test('a chosen port that is taken ends the start and is named; a start that fails closes the page', async () => {
  const taken = String((await openPage())?.port)
  const dataDir = await mkdtemp(join(tmpdir(), 'hub-metrics-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const ofMetrics = await runCli(['serve'], { HUB_DATA_DIR: dataDir, HUB_METRICS_PORT: taken })
  expect([ofMetrics.code, ofMetrics.stderr]).toEqual([1, expect.stringContaining('HUB_METRICS_PORT')])
  // A file where its directory should be: the start fails after the page was opened.
  await writeFile(join(dataDir, 'file'), '')
  const broken = await runCli(['serve', '--data-dir', join(dataDir, 'file')], { HUB_METRICS_PORT: '0' })
  expect(broken.code).toBe(1)
})

test('the port is 9464 unless set, off means none, 0 lets the system choose', () => {
  const of = (text?: string) => {
    const { metricsPort, metricsPortConfigured } = loadConfig(text === undefined ? {} : { HUB_METRICS_PORT: text })
    return [metricsPort, metricsPortConfigured]
  }
  expect(of()).toEqual([9464, false])
  expect(of('off')).toEqual([undefined, true])
  expect(of('0')).toEqual([0, true])
  expect(of('9999')).toEqual([9999, true])
  for (const wrong of ['on', '-1', '65536', '1.5', '9464x']) expect(() => of(wrong), wrong).toThrow(ConfigError)
})
