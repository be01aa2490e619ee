import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonValue } from '../../provenance/index.ts'
import { modeB } from '../cmek/mode-b-lab.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { decision, expectProblem, pathOf, query, recordsPath, write } from './record-cases.ts'
import { send } from './summary-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

/** Filters of queryRecords by members that no column contains. */

let hub: TestHub
/** Events by name; the name is their session. Each is computed to cost 0.0005 unless it has no model. */
const events: Record<string, Record<string, JsonValue | undefined>> = {
  fast: { latency_ms: 10 },
  slow: { latency_ms: 9000, llm_platform: 'chatgpt' },
  failed: { success: false, error_code: 'timeout', latency_ms: 500 },
  other: { success: false, error_code: 'timeout.inner', llm_model: undefined, cost_usd_estimate: 2 },
  misleading: { metadata: { error_code: 'timeout', success: false, latency_ms: 9000, llm_platform: 'chatgpt' } },
  retried: { error_code: 'timeout', cost_usd_estimate: 40 },
}

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme', 'globex', 'cmode')
  const named = Object.entries(events).map(([session_id, changes]) => ({ session_id, ...changes }))
  await send(hub, 'acme', named)
  await write(hub, 'acme', { ...decision, decision_subject: '"success":false "error_code":"timeout"' })
  const output = { record_type: 'output', skill_id: 'sum-up', llm_platform: 'chatgpt', llm_model: 'gpt-5' }
  await write(hub, 'acme', { ...output, title: 'output', content: '"llm_platform":"claude"', cost_usd_estimate: 3 })
  await send(hub, 'globex', [{ success: false, error_code: 'secret' }])
  await send(hub, 'cmode', [{ success: false, error_code: 'timeout' }, {}])
})
afterAll(() => hub.stop())

const namesOf = (records: { session_id?: string; title?: string }[]) =>
  records.map(({ session_id, title }) => session_id ?? title)
const names = async (parameters: string, tenant: TestTenant = 'acme', options = {}) =>
  namesOf((await query(hub, tenant, `?${parameters}`, options)).records)

const cases: [string, string[]][] = [
  ['success=false', ['failed', 'other']],
  ['success=true', ['fast', 'slow', 'misleading', 'retried']],
  ['error_code=timeout', ['failed', 'retried']],
  ['error_code=timeout&success=false', ['failed']],
  ['error_code=time%25', []],
  ['error_code=%22', []],
  ['llm_platform=chatgpt', ['slow', 'output']],
  ['llm_platform=chatgpt&success=true', ['slow']],
  ['llm_model=gpt-5', ['output']],
  ['llm_model=claude-3-haiku-20240307&llm_platform=chatgpt', ['slow']],
  ['latency_ms__gte=9000', ['slow']],
  ['latency_ms__lte=10', ['fast']],
  ['latency_ms__gte=11&latency_ms__lte=500', ['failed']],
  ['latency_ms__gte=500&latency_ms__lte=11', []],
  ['cost_usd__gte=0.0006', ['other', 'output']],
  ['cost_usd__lte=0.0005&success=true', ['fast', 'slow', 'misleading', 'retried']],
  ['cost_usd__gte=2&cost_usd__lte=2', ['other']],
  ['success=true&skill_id=sum-up&user_id=user:kim@example.com&session_id=slow', ['slow']],
  ['success=false&record_type=decision', []],
  ['llm_model=gpt-5&record_type=telemetry_event', []],
  ['success=false&sort=-cost_usd_estimate', ['other', 'failed']],
  ['success=false&sort=-created_at', ['other', 'failed']],
]

describe('finds', () => {
  test.each(cases)('%s', async (parameters, found) => expect(await names(parameters)).toEqual(found))

  test.each(cases)('on pages of one record: %s', async (parameters, expected) => {
    const found: (string | undefined)[] = []
    let cursor: string | null = ''
    for (let pages = 0; cursor !== null && pages < 20; pages += 1) {
      const rest: string = cursor && `&cursor=${cursor}`
      const page = await query(hub, 'acme', `?${parameters}&limit=1${rest}`)
      found.push(...namesOf(page.records))
      cursor = page.next_cursor
    }
    expect(cursor).toBeNull()
    expect(found).toEqual(expected)
  })

  test('whole records, verified on request', async () => {
    const { records, verification_summary } = await query(hub, 'acme', '?error_code=timeout&verify=true')
    expect(verification_summary).toMatchObject({ checked: 2, verified: 2 })
    const { verification: _, ...record } = records[0]
    expect(record).toEqual((await hub.call('acme', 'GET', pathOf(record.record_id))).body)
  })

  test('only types that the token may read', async () => {
    expect(await names('llm_platform=chatgpt', 'acme', { scopes: ['telemetry:read'] })).toEqual(['slow'])
    expect(await names('llm_platform=chatgpt', 'acme', { scopes: ['governance:read'] })).toEqual([])
  })

  test('purged events only on request', async () => {
    await send(hub, 'acme', [{ session_id: 'gone', success: false, error_code: 'gone' }])
    const [{ record_id }] = (await query(hub, 'acme', '?error_code=gone')).records
    await hub.call('acme', 'DELETE', pathOf(record_id, '?reason=x'))
    expect(await names('error_code=gone')).toEqual([])
    expect(await names('error_code=gone&include_purged=true')).toEqual(['gone'])
  })

  test('nothing of another tenant, and the events of Mode C', async () => {
    expect(await names('error_code=secret')).toEqual([])
    expect((await names('error_code=timeout', 'cmode')).length).toBe(1)
  })

  test('content of Mode B, which the service decrypts', async () => {
    const vault = await modeB(hub, 'vault')
    await vault.ready()
    await vault.call('PUT', '/api/v1/roster/archetypes', { archetypes: [{ archetype_id: 'analyst' }] })
    for (const [session_id, changes] of Object.entries(events)) {
      const body = event({ skill_id: 'sum', session_id, ...changes })
      expect((await vault.call('POST', '/api/v1/telemetry/events', body)).status).toBe(201)
    }
    for (const [parameters, expected] of cases.filter(([text]) => !/output|gpt-5|sum-up/.test(text))) {
      const { records } = (await vault.call('GET', `${recordsPath}?${parameters}`)).body
      expect(namesOf(records), parameters).toEqual(expected.filter((name) => name !== 'output'))
    }
  })
})

describe('refuses', () => {
  test.each([
    ['success=maybe', 'success'],
    ['error_code=', 'error_code'],
    ['llm_model=', 'llm_model'],
    [`llm_platform=${'x'.repeat(301)}`, 'llm_platform'],
    ['latency_ms__gte=-1', 'latency_ms__gte'],
    ['latency_ms__lte=fast', 'latency_ms__lte'],
    ['latency_ms__gte=1.5', 'latency_ms__gte'],
    ['cost_usd__gte=free', 'cost_usd__gte'],
    ['cost_usd__lte=-0.1', 'cost_usd__lte'],
    ['cost_usd__gte=1&cost_usd__gte=2', 'cost_usd__gte'],
  ])('%s', async (parameters, name) => {
    const answer = await hub.call('acme', 'GET', `${recordsPath}?${parameters}`)
    expectProblem(answer, 'validation-failed', `/query/${name}`)
  })

  test('a cursor of another filter or tenant', async () => {
    const { next_cursor } = await query(hub, 'acme', '?success=true&limit=1')
    for (const [tenant, filter] of [['acme', 'success=false'] as const, ['globex', 'success=true'] as const]) {
      const answer = await hub.call(tenant, 'GET', `${recordsPath}?${filter}&limit=1&cursor=${next_cursor}`)
      expectProblem(answer, 'invalid-cursor', '/query/cursor')
    }
  })
})
