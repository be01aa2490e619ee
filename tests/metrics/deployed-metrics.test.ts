import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { scopeNames } from '../../contract/scopes.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { log, logs } from '../otlp/otlp-bodies.ts'
import { freePort } from '../support/free-port.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { event } from '../telemetry/events.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { answer } from '../webhooks/receiver-behaviours.ts'
import { baseName, type ExposedMetric, exposedMetrics, metricsOf } from './metric-names.ts'

/** The dashboard, the alert rules and docs/metrics.md, compared with the page of a Hub that runs. */

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
interface Panel {
  title: string
  type: string
  targets?: { expr: string }[]
}

const rules = (parse(read('deploy/prometheus/rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const dashboard = JSON.parse(read('deploy/grafana/org-memory-hub.json')) as {
  panels: Panel[]
  templating: { list: { query: string | { query: string } }[] }
}
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const expressions: [place: string, expression: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
]

/** The rows of the tables of docs/metrics.md by the name of their metric. */
const documented = new Map(
  read('docs/metrics.md')
    .split('\n')
    .filter((line) => line.startsWith('| `hub_'))
    .map((line) => {
      const [, name = '', type = '', labels = '', unit = '', meaning = ''] = line.split('|').map((cell) => cell.trim())
      return [name.replaceAll('`', ''), { type, labels: wordsOf(labels), unit, meaning, line }]
    }),
)

function wordsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/`(\w+)`/g)].map(([, word = '']) => word))
}

let made: TestHub
let folder: string
let hub: HubProcess | undefined
let receiver: Receiver
let metrics: Map<string, ExposedMetric>

beforeAll(async () => {
  made = await startHub()
  await prepareTelemetry(made, 'acme')
  receiver = await startReceiver()
  const port = await freePort()
  const apiPort = await freePort()
  folder = await mkdtemp(join(tmpdir(), 'hub-metrics-'))
  hub = await startHubProcess(
    folder,
    {
      HUB_DATABASE_URL: made.test.url,
      HUB_MASTER_KEY: made.test.masterKey.toString('base64'),
      HUB_BASE_URL: `http://127.0.0.1:${apiPort}`,
      HUB_OUTBOUND_ALLOW: '127.0.0.1',
      HUB_METRICS_PORT: String(port),
    },
    [],
    apiPort,
  )
  const page = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  await useHub(apiPort)
  // The queue has started, the delivery is counted, and the worker has measured its lag.
  const text = await vi.waitFor(
    async () => {
      const now = await page()
      expect(now).toMatch(/^hub_webhook_deliveries_total\{outcome="dead"\} 1$/m)
      expect(now).toMatch(/^hub_jobs\{/m)
      expect(now).toMatch(/^hub_work_lag_seconds\{/m)
      return now
    },
    { timeout: scaled(60_000), interval: 200 },
  )
  expect(text).toMatch(/^hub_telemetry_events_stored_total 2$/m)
  for (const [outcome, count] of Object.entries({ accepted: 0, rejected: 1, ignored: 1 }))
    expect(text).toContain(`hub_otlp_items_total{signal="logs",outcome="${outcome}"} ${count}\n`)
  metrics = exposedMetrics(text)
})
afterAll(async () => {
  await hub?.stop()
  await receiver?.stop()
  await made?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Makes requests of the kinds that the metrics count: a token, events, a refused delivery and an unknown address. */
async function useHub(port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  const account = await made.modules.auth.serviceAccounts.create(
    await made.tenant('acme'),
    { name: 'metrics', scopes: scopeNames },
    { operator: 'test' },
  )
  const credentials = { client_id: account.client_id, client_secret: account.client_secret }
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...credentials })
  const token = await fetch(`${url}/api/v1/oauth/token`, { method: 'POST', body: form })
  const { access_token } = (await token.json()) as { access_token: string }
  const post = async (path: string, body: object) => {
    const headers = {
      authorization: `Bearer ${access_token}`,
      'x-service-tenant': 'acme',
      'content-type': 'application/json',
    }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, string>
  }
  const endpoint = receiver.at('/hook')
  endpoint.behaviour = answer(410)
  const webhook = await post('/api/v1/webhooks', { url: endpoint.url, events: ['user.*'] })
  await post('/api/v1/telemetry/events:batch', { events: [event(), event()] })
  // One is a call without a skill, and one is none.
  const records = ['api_request', 'tool_result'].map((name) =>
    log({ 'event.name': `claude_code.${name}`, 'user.id': 'kim', 'archetype.id': 'analyst' }),
  )
  await post('/api/v1/otlp/v1/logs', logs(records))
  await post(`/api/v1/webhooks/${webhook.webhook_id}:test`, {})
  expect((await fetch(`${url}/nowhere`)).status).toBe(404)
}

/** Returns the metric of a series, with its histogram's name. */
const metricOf = (name: string) => metrics.get(name) ?? metrics.get(baseName(name))

describe('the parser', () => {
  test('refuses an expression that is not PromQL, and finds names, labels and values', () => {
    for (const wrong of ['sum(', 'rate(hub_x[5m]', 'sum by (a hub_x', 'hub_x{a=1}', 'hub_x > > 1'])
      expect(() => metricsOf(wrong), wrong).toThrow('not PromQL')
    expect(metricsOf('sum by (a, le) (rate(hub_x_bucket{b=~"c|d",job="$job"}[$__rate_interval])) / hub_y')).toEqual([
      {
        name: 'hub_x_bucket',
        labels: new Set(['a', 'b']),
        values: ['c', 'd'].map((value) => ({ label: 'b', value })),
      },
      { name: 'hub_y', labels: new Set(), values: [] },
    ])
  })
})

describe('docs/metrics.md', () => {
  test('has every metric of the Hub, and no other', () => {
    const own = [...metrics.keys()].filter((name) => !/^(process|nodejs)_/.test(name))
    expect([...documented.keys()].sort()).toEqual(own.sort())
    expect(own.length).toBeGreaterThan(20)
  })

  test('has the type, the labels, the unit and the meaning of each', () => {
    for (const [name, { type, labels, unit, meaning }] of documented) {
      const metric = metrics.get(name)!
      expect([name, type], name).toEqual([name, metric.type])
      if (metric.hasSeries) expect([name, labels]).toEqual([name, metric.labels])
      expect(
        [unit, meaning].every((cell) => cell.length > 0),
        name,
      ).toBe(true)
    }
    // The requests above gave each metric a series.
    expect([...documented.keys()].filter((name) => !metrics.get(name)?.hasSeries)).toEqual([])
  })

  test('names only metrics that exist', () => {
    const names = read('docs/metrics.md').match(/\b(hub|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g) ?? []
    const unknown = new Set(names.filter((name) => !metricOf(name) && name !== 'hub_work_lag'))
    expect([...unknown]).toEqual([])
  })
})

describe('the dashboard and the alert rules', () => {
  test('have metrics and labels that exist in every expression', () => {
    for (const [place, expression] of expressions) {
      const used = metricsOf(expression)
      expect(used.length, place).toBeGreaterThan(0)
      for (const { name, labels } of used) {
        // Prometheus itself makes `up`.
        if (name === 'up') continue
        const metric = metricOf(name)
        expect(metric, `${place}: ${name}`).toBeDefined()
        expect(
          [...labels].filter((label) => !metric!.labels.has(label)),
          `${place}: ${name}`,
        ).toEqual([])
        if (name !== baseName(name) && !metrics.has(name)) expect([place, metric!.type]).toEqual([place, 'histogram'])
        if (name.endsWith('_total')) expect(expression, place).toMatch(/\b(rate|increase)\(/)
      }
    }
  })

  test('compare labels with documented values only', () => {
    const compared = expressions.flatMap(([place, expression]) =>
      metricsOf(expression).flatMap(({ name, values }) =>
        values.filter(({ label }) => label !== 'job').map(({ value }) => ({ place, name, value })),
      ),
    )
    expect(compared.length).toBeGreaterThan(10)
    const unknown = compared.filter(({ name, value }) => !wordsOf(documented.get(name)?.meaning ?? '').has(value))
    expect(unknown).toEqual([])
  })

  test('together use every metric of the Hub', () => {
    const used = new Set(expressions.flatMap(([, expression]) => metricsOf(expression).map(({ name }) => name)))
    const names = new Set([...used].flatMap((name) => [name, baseName(name)]))
    expect([...documented.keys()].filter((name) => !names.has(name))).toEqual([])
  })

  test('the variables of the dashboard ask for metrics that exist', () => {
    const queries = dashboard.templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query]))
    const names = queries.map((query) => /^label_values\((\w+)/.exec(query)?.[1])
    expect(names.map((name) => metrics.has(name ?? ''))).toEqual([true, true])
  })

  test('each rule has one name, a severity, and says what it means and what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity)
      expect(annotations.summary, alert).toMatch(/^.{15,120}$/)
      expect(annotations.description?.split(/[.:;] /).length, alert).toBeGreaterThan(1)
    }
  })

  test('templates of annotations name labels that the result of the expression has', () => {
    for (const { alert, expr, annotations } of rules) {
      const asked = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].map(([, labels = '']) => labels.split(/,\s*/))
      for (const label of asked) {
        if (grouped.length > 0) for (const labels of grouped) expect(labels, alert).toContain(label)
        else if (label !== 'instance')
          for (const { name } of metricsOf(expr)) expect([...metricOf(name)!.labels], alert).toContain(label)
      }
    }
  })

  test('the scrape example reads the default port of this machine, under the job of the rules', () => {
    const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml')) as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[]
    }
    expect(scrape_configs).toMatchObject([
      { job_name: 'org-memory-hub', static_configs: [{ targets: ['127.0.0.1:9464'] }] },
    ])
    const jobs = rules.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)].map(([, job]) => job))
    expect(new Set(jobs)).toEqual(new Set(['org-memory-hub']))
  })
})
