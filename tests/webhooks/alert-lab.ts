import type { JsonValue } from '../../provenance/index.ts'
import type { TelemetryWindows } from '../../server/modules/telemetry/summary/window-types.ts'
import { AlertEvaluator } from '../../server/modules/webhooks/alerts/alert-evaluator.ts'
import type { AlertRule, WebhookOutbox } from '../../server/modules/webhooks/webhooks-types.ts'
import { prepareTelemetry, registerSkill } from '../api/telemetry-tenants.ts'
import { addWebhook, must, webhooksPath } from '../api/webhook-cases.ts'
import { startHub, type TestHub, type TestHubOptions, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { takeDescribed } from './queued-messages.ts'

/** Long past, so that events of every minute around it are taken. */
export const noonMs = Date.parse('2026-01-05T12:00:00Z')
const minuteMs = 60_000

export const errorRate: AlertRule = { metric: 'error_rate', group_by: 'skill', above: 0.2, window_minutes: 30 }

export interface AlertLab {
  hub: TestHub
  /** Minutes since noon, for looks. */
  minute: number
  /** An endpoint that names no events, with these rules. */
  watch(rules: readonly AlertRule[], change?: object, tenant?: TestTenant): Promise<string>
  change(webhookId: string, body: object): Promise<void>
  /** Ingests as many alike, which occur at a minute since noon. */
  ingest(count: number, minute: number, change?: Record<string, JsonValue>, tenant?: TestTenant): Promise<string[]>
  /** One event for each change. */
  ingestEach(changes: readonly Record<string, JsonValue>[], minute: number, tenant?: TestTenant): Promise<string[]>
  /** Looks at the minute given, and answers what is told. */
  look(minute: number, tenant?: TestTenant): Promise<SentMessage[]>
  /** As `listWebhookAlerts` answers. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
  open(webhookId: string, tenant?: TestTenant): Promise<any[]>
  /** One more process that looks, at {@link minute}. */
  process(other?: { outbox?: Pick<WebhookOutbox, 'add'>; windows?: TelemetryWindows }): AlertEvaluator
  stop(): Promise<void>
}

export type SentMessage = Awaited<ReturnType<typeof takeDescribed>>[number]

/** What of messages tells them apart in tests. */
export const brief = (messages: readonly SentMessage[]) =>
  messages.map(({ kind, data }) => [kind.split('_').at(-1), data.key])

export async function startAlertLab(options: TestHubOptions = {}): Promise<AlertLab> {
  const hub = await startHub(options)
  await prepareTelemetry(hub, 'acme', 'globex')
  await registerSkill(hub, 'acme', 'translate')
  const archetypes = [{ archetype_id: 'analyst' }, { archetype_id: 'lawyer' }]
  await must(hub, 'acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  const { webhooks, telemetry, recordStore, governance } = hub.modules

  const lab: AlertLab = {
    hub,
    minute: 0,
    async watch(alerts, change = {}, tenant = 'acme') {
      return (await addWebhook(hub, tenant, { events: [], alerts, ...change })).webhook_id
    },
    async change(webhookId, body) {
      await must(hub, 'acme', 'PATCH', `${webhooksPath}/${webhookId}`, { body })
    },
    ingest: (count, minute, change = {}, tenant = 'acme') => lab.ingestEach(Array(count).fill(change), minute, tenant),
    async ingestEach(changes, minute, tenant = 'acme') {
      const ts = new Date(noonMs + minute * minuteMs).toISOString()
      const all = changes.map((change) => event({ ts, ...change }))
      const ids: string[] = []
      for (let at = 0; at < all.length; at += 1000) {
        const body = { events: all.slice(at, at + 1000) }
        const answer = await must(hub, tenant, 'POST', '/api/v1/telemetry/events:batch', { body })
        if (answer.body.failed > 0) throw new Error(JSON.stringify(answer.body.errors[0]))
        for (const { record_id } of answer.body.records) ids.push(record_id)
      }
      return ids
    },
    async look(minute, tenant = 'acme') {
      lab.minute = minute
      await looking.evaluate(await hub.tenant(tenant))
      return takeDescribed(hub, tenant)
    },
    async open(webhookId, tenant = 'acme') {
      return (await must(hub, tenant, 'GET', `${webhooksPath}/${webhookId}/alerts?limit=1000`)).body.items
    },
    process: ({ outbox = webhooks.outbox, windows = telemetry.windows } = {}) =>
      new AlertEvaluator({
        ...{ database: hub.test.database, endpoints: webhooks.endpoints, outbox, windows },
        ...{ clock: recordStore.clock, governance },
        nowMs: () => noonMs + lab.minute * minuteMs,
      }),
    stop: () => hub.stop(),
  }
  const looking = lab.process()
  return lab
}

export const failed = { success: false, error_code: 'timeout' }

/** Takes away everything that a test has left: endpoints, what waits, and the sums of telemetry. */
export async function clean({ hub }: AlertLab, ...tenants: TestTenant[]): Promise<void> {
  const superuser = await hub.superuserClient()
  for (const tenant of tenants) {
    const { items } = (await must(hub, tenant, 'GET', `${webhooksPath}?limit=1000`)).body
    for (const { webhook_id } of items) await must(hub, tenant, 'DELETE', `${webhooksPath}/${webhook_id}`)
    await takeDescribed(hub, tenant)
    for (const table of ['telemetry_deltas', 'telemetry_rollups', 'rollup_open_days'])
      await superuser.query(`delete from hub.${table} where tenant_id = $1`, [tenant])
  }
}
