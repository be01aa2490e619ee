import { deltaOfDifferences } from '../../server/modules/telemetry/rollups/rollup-delta.ts'
import { insertDelta } from '../../server/modules/telemetry/rollups/rollup-store.ts'
import { deltasAmong } from '../../server/modules/telemetry/telemetry-store.ts'
import { chat, log, logs, span, traces } from '../otlp/otlp-bodies.ts'
import { send } from '../otlp/otlp-lab.ts'
import type { TestHub, TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { call } from './walk-call.ts'

/** Spans with and without an archetype, of a known and an unknown skill, sent twice. */
export async function walkOtlp(hub: TestHub, tenant: TestTenant): Promise<void> {
  const path = '/api/v1/telemetry/otlp-mapping'
  const body = { default_archetype_id: 'analyst', unknown_skill: 'register' }
  for (const mapping of [body, { ...body, default_skill_id: 'sum-up' }])
    await call(hub, tenant, 'PUT', path, { body: mapping })
  await call(hub, tenant, 'GET', path)
  const { 'archetype.id': _, ...attributes } = chat
  const spans = Array.from({ length: 60 }, (_, index) => span(index, { ...attributes, 'skill.name': 'new' }))
  for (const sent of [spans, [...spans, span(60)]]) {
    const { status, body: result } = await send(hub, traces(sent), { tenant })
    if (status !== 200 || 'partialSuccess' in result) throw new Error(JSON.stringify(result))
  }
  const record = (name: string) =>
    log({ 'event.name': `claude_code.${name}`, 'session.id': 's', 'user.id': 'u', 'skill.name': 'custom_skill' })
  await send(hub, logs([record('skill_activated'), record('api_request')]), { tenant })
}

export async function walkSessionsAndTraces(hub: TestHub, tenant: TestTenant): Promise<void> {
  const trace_id = 'e'.repeat(32)
  const events = ['run-1', 'run-2', 'run-1'].map((session_id) => event({ session_id, trace_id }))
  await call(hub, tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  const times = 'created_at__gte=2020-01-01T00:00:00Z&created_at__lt=2099-01-01T00:00:00Z'
  const filters = 'user_id=user:kim@example.com&skill_id=sum-up&archetype_id=analyst'
  for (const list of ['sessions?limit=1', `sessions?limit=1&${filters}&${times}`, `traces/${trace_id}?limit=1`]) {
    const { next_cursor: cursor } = await call(hub, tenant, 'GET', `/api/v1/hub/${list}`)
    await call(hub, tenant, 'GET', `/api/v1/hub/${list}&cursor=${cursor}`)
  }
  await call(hub, tenant, 'GET', '/api/v1/hub/sessions/run-1')
}

export async function setPrices(hub: TestHub, tenant: TestTenant): Promise<void> {
  const price = { llm_model: 'home-grown', input_usd_per_mtok: 1, effective_from: '2026-01-01T00:00:00Z' }
  for (const usd of [1, 2]) {
    const prices = [{ ...price, output_usd_per_mtok: usd }]
    await call(hub, tenant, 'PUT', '/api/v1/telemetry/prices', { body: { prices } })
  }
  await call(hub, tenant, 'GET', '/api/v1/telemetry/prices')
}

/** What goes on in the background with what was ingested; some of it is left unfinished. */
export async function foldAndRebuild(hub: TestHub, tenant: TestTenant): Promise<void> {
  const { rollups } = hub.modules.rollups
  const ingest = () => call(hub, tenant, 'POST', '/api/v1/telemetry/events', { body: event() })
  const difference = { skillId: 'sum-up', archetypeId: 'analyst', userId: 'user:kim@example.com', platform: 'claude' }
  const changed = { model: undefined, errorCode: undefined, epochMs: 0, costComputedMicros: -1, unpriced: 1 }
  await hub.test.database.withTenant(tenant, (tx) =>
    insertDelta(tx, deltaOfDifferences([{ ...difference, ...changed }])),
  )
  // Asked while ingest is under way.
  await hub.test.database.withTenant(tenant, (tx) => deltasAmong(tx, [crypto.randomUUID()]))
  await rollups.settle(tenant)
  await rollups.rebuild(tenant)
  await ingest()
  await rollups.fold(tenant)
  await ingest()
}

/** To other prices, in the background and at once; then what is wrong with the costs, by every index. */
export async function rateAgain(hub: TestHub, tenant: TestTenant): Promise<void> {
  const all = { from: '2020-01-01T00:00:00Z' }
  const price = { llm_model: event().llm_model, input_usd_per_mtok: 7, output_usd_per_mtok: 7 }
  const prices = [{ ...price, effective_from: '2020-01-01T00:00:00Z' }]
  await call(hub, tenant, 'PUT', '/api/v1/telemetry/prices', { body: { prices } })
  const by = { actor: { operator: 'test' }, cause: { command: 'test' } }
  const { changed } = await hub.modules.telemetry.rating.rate(await hub.tenant(tenant), all, by)
  if (changed === 0) throw new Error('nothing was rated again')
  await call(hub, tenant, 'POST', '/api/v1/telemetry/prices:rerate', { body: all })
  const exceptions = '/api/v1/telemetry/reconciliation/exceptions?limit=1'
  const times = ['', '&created_at__gte=2020-01-01T00:00:00Z', '&created_at__lt=2099-01-01T00:00:00Z']
  for (const filter of ['', '&skill_id=sum-up', '&archetype_id=analyst', '&user_id=user:kim@example.com']) {
    for (const time of times) {
      const query = `${exceptions}${filter}${time}`
      const { next_cursor: cursor } = await call(hub, tenant, 'GET', query)
      if (cursor) await call(hub, tenant, 'GET', `${query}&cursor=${cursor}`)
    }
  }
}

/** Every grouping with every filter, by interval and without, from the start and from a cursor on. */
export async function summarizeInAllWays(hub: TestHub): Promise<void> {
  const from = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'
  const filters = ['skill_id=sum-up', 'archetype_id=analyst', 'user_id=user:kim@example.com', 'llm_platform=claude']
  const outcomes = ['success=true', 'error_code=timeout', 'success=false&user_id=user:kim@example.com']
  const groupings = ['skill', 'archetype', 'user', 'platform', 'model', 'error_code'].map((name) => `&group_by=${name}`)
  for (const operation of ['summary', 'reconciliation']) {
    for (const grouping of ['', ...groupings]) {
      for (const filter of ['', ...filters, ...outcomes, `${filters[0]}&llm_model=gpt-5`]) {
        for (const interval of ['', '&interval=day&time_zone=Europe/Berlin']) {
          const query = `/api/v1/telemetry/${operation}?${from}${interval}${grouping}&${filter}&limit=1`
          const { next_cursor: cursor } = await call(hub, 'acme', 'GET', query)
          if (cursor) await call(hub, 'acme', 'GET', `${query}&cursor=${cursor}`)
        }
      }
    }
  }
}
