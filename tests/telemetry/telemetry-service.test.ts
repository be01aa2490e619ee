import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { BatchResponse } from '../../server/modules/telemetry/telemetry-types.ts'
import { event } from './events.ts'
import { openTelemetryLab } from './telemetry-lab.ts'

let lab: Awaited<ReturnType<typeof openTelemetryLab>>
beforeAll(async () => {
  lab = await openTelemetryLab()
})
afterAll(() => lab.drop())

const slugOf = async (failing: Promise<unknown>): Promise<string> => {
  const error = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof DomainError ? error.slug : String(error)
}

describe('tenant.live', () => {
  const liveEvents = async (slug: string) =>
    (await lab.canonicalsOf(slug, 'governance_event')).filter((record) => record.event_kind === 'tenant.live')

  test('once, however many first events arrive together at several processes', async () => {
    const caller = await lab.openTenant('live-together')
    const processes = [lab.openProcess(), lab.openProcess()]
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => processes[at % 2]!.telemetry.ingestEvent(caller, event(), undefined)),
    )
    const [live, ...more] = await liveEvents('live-together')
    expect(more).toEqual([])
    expect(live).toMatchObject({
      created_by: 'service:hub',
      subject: 'tenant:live-together',
      details: { actor: 'client-1' },
    })
    const ids = answers.map(({ answer }) => answer.record_id)
    expect(ids).toContain((live!.details as { record_id: string }).record_id)
  })

  test('not by a batch of which nothing is accepted', async () => {
    const caller = await lab.openTenant('live-refused')
    const { telemetry } = lab.openProcess()
    const { answer } = await telemetry.ingestBatch(caller, { events: [event({ latency_ms: 0 })] }, undefined)
    expect(answer).toMatchObject({ accepted: 0, failed: 1, records: [] })
    expect(await liveEvents('live-refused')).toEqual([])
    await telemetry.ingestBatch(caller, { events: [event({ latency_ms: 0 }), event()] }, undefined)
    expect(await liveEvents('live-refused')).toHaveLength(1)
  })

  test('the event is answered when it cannot be recorded, and the next one makes up for it', async () => {
    const caller = await lab.openTenant('live-late')
    let isAway = true
    const { telemetry, warnings } = lab.openProcess({
      governance: {
        ...lab.governance,
        append: (...args) => (isAway ? Promise.reject(new Error('away')) : lab.governance.append(...args)),
      },
    })
    const { answer } = await telemetry.ingestEvent(caller, event(), 'key')
    expect(warnings).toHaveLength(1)
    expect(await liveEvents('live-late')).toEqual([])
    isAway = false
    const again = await telemetry.ingestEvent(caller, event(), 'key')
    expect(again).toEqual({ answer, replayed: true })
    expect(await liveEvents('live-late')).toHaveLength(1)
  })
})

describe('what other processes change', () => {
  test('a new archetype or skill counts at once', async () => {
    const caller = await lab.openTenant('news')
    const { telemetry } = lab.openProcess({ nowMs: () => 0 })
    await telemetry.ingestEvent(caller, event(), undefined)
    expect(await slugOf(telemetry.ingestEvent(caller, event({ archetype_id: 'new' }), undefined))).toBe(
      'validation-failed',
    )
    expect(await slugOf(telemetry.ingestEvent(caller, event({ skill_id: 'new' }), undefined))).toBe(
      'skill-not-registered',
    )
    await lab.addArchetype('news', 'new')
    await lab.setSkill('news', 'new', 'draft')
    await telemetry.ingestEvent(caller, event({ archetype_id: 'new', skill_id: 'new' }), undefined)
    expect(await lab.canonicalsOf('news', 'telemetry_event')).toHaveLength(2)
  })

  test('a retired skill is refused within a second', async () => {
    const caller = await lab.openTenant('retired')
    let nowMs = 0
    const { telemetry } = lab.openProcess({ nowMs: () => nowMs })
    await telemetry.ingestEvent(caller, event(), undefined)
    await lab.setSkill('retired', 'sum-up', 'retired')
    nowMs = 1000
    expect(await slugOf(telemetry.ingestEvent(caller, event(), undefined))).toBe('skill-not-registered')
  })
})

test('a Mode B tenant takes nothing before it is provisioned', async () => {
  const caller = await lab.openTenant('mode-b', 'B')
  const { telemetry } = lab.openProcess()
  expect(await slugOf(telemetry.ingestEvent(caller, event(), undefined))).toBe('hub-not-provisioned')
  expect(await slugOf(telemetry.ingestBatch(caller, { events: [event()] }, undefined))).toBe('hub-not-provisioned')
  expect(await slugOf(telemetry.ingestEvent(caller, event({ success: 1 }), undefined))).toBe('validation-failed')
  expect(await lab.canonicalsOf('mode-b', 'telemetry_event')).toEqual([])
})

describe('a repeated batch', () => {
  const body = {
    events: [
      event(),
      event({ skill_id: 'later' }),
      event({ archetype_id: 'later' }),
      event({ latency_ms: 0, user_id: 'nobody' }),
      event({ skill_id: 'later', archetype_id: 'later' }),
      event({ ts: new Date(Date.now() + 360_000).toISOString() }),
      event({ llm_model: 'none' }),
    ],
  }
  let first: BatchResponse

  test('is answered as the first time, although what was missing is there by now', async () => {
    const caller = await lab.openTenant('repeated')
    const { telemetry } = lab.openProcess()
    first = (await telemetry.ingestBatch(caller, body, 'key')).answer
    expect(first.records.map((record) => record.index)).toEqual([0, 6])
    expect(first.errors?.map(({ index, status, pointer }) => [index, status, pointer])).toEqual([
      [1, 422, '/events/1/skill_id'],
      [2, 400, '/events/2/archetype_id'],
      [3, 400, '/events/3/user_id'],
      [4, 400, '/events/4/archetype_id'],
      [5, 400, '/events/5/ts'],
    ])
    await lab.setSkill('repeated', 'later', 'published')
    await lab.addArchetype('repeated', 'later')
    expect(await lab.openProcess().telemetry.ingestBatch(caller, body, 'key')).toEqual({
      answer: first,
      replayed: true,
    })
    expect(await lab.canonicalsOf('repeated', 'telemetry_event')).toHaveLength(2)
  })

  test('what is kept for it holds no content', async () => {
    const rows = await lab.database.withTenant('repeated', (tx) =>
      tx.db.selectFrom('hub.idempotency_keys').select('answer').where('tenant_id', '=', 'repeated').execute(),
    )
    expect(rows).toEqual([
      {
        answer: {
          now_ms: expect.any(Number),
          record_ids: first.records.map((record) => record.record_id),
          refused: [1, 2, 3, 4, 5],
          unknown_archetypes: ['later'],
          unregistered_skills: ['later'],
        },
      },
    ])
  })

  test('nothing accepted is an answer too', async () => {
    const caller = await lab.openTenant('none-accepted')
    const { telemetry } = lab.openProcess()
    const refused = { events: [event({ skill_id: 'later' })] }
    const { answer } = await telemetry.ingestBatch(caller, refused, 'key')
    await lab.setSkill('none-accepted', 'later', 'draft')
    expect(await telemetry.ingestBatch(caller, refused, 'key')).toEqual({ answer, replayed: true })
  })
})

test('what the service computes is frozen on the event', async () => {
  const caller = await lab.openTenant('prices')
  const { telemetry } = lab.openProcess()
  await telemetry.ingestEvent(caller, event(), undefined)
  await telemetry.ingestEvent(caller, event({ llm_model: undefined }), undefined)
  await telemetry.ingestEvent(caller, event({ llm_model: 'home-grown' }), undefined)
  const [priced, ...others] = await lab.canonicalsOf('prices', 'telemetry_event')
  expect(priced).toMatchObject({
    ...event(),
    cost_usd_computed: (1000 * 0.25 + 200 * 1.25) / 1e6,
    price_source: expect.stringMatching(/^genai-prices\/[\d.]+:anthropic\/claude-3-haiku$/),
    created_by: 'client-1',
    related_records: [],
  })
  for (const other of others) expect(Object.keys(other)).not.toContain('cost_usd_computed')
  for (const other of others) expect(Object.keys(other)).not.toContain('price_source')
})
