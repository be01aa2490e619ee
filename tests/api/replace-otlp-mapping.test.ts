import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeNames } from '../../contract/scopes.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { expectGuarded, query } from './record-cases.ts'

const path = '/api/v1/telemetry/otlp-mapping'
let hub: TestHub

beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const put = (body: unknown) => hub.call('acme', 'PUT', path, { body })
const rule = { when: { 'service.name': 'bot', retries: 2, debug: false }, set: { skill_id: 'sum-up' } }

test('it is replaced whole, and the change is recorded without the conditions', async () => {
  const mapping = {
    ...{ default_skill_id: 'other', default_archetype_id: 'analyst', unknown_skill: 'register' },
    ...{ ignore_operations: ['embeddings'], rules: [rule] },
  }
  const answer = await put(mapping)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toEqual(mapping)
  expect((await hub.call('acme', 'GET', path)).body).toEqual(mapping)
  expect((await put(mapping)).body).toEqual(mapping)
  const { records } = await query(hub, 'acme', '?event_kind=tenant.config_changed')
  const events = records.filter((record: { details: { change: string } }) => record.details.change === 'otlp_mapping')
  expect(events).toMatchObject([{ details: { before: { rules: 0 }, after: { rules: 1, unknown_skill: 'register' } } }])
  expect(JSON.stringify(events)).not.toContain('bot')

  expect((await put({ rules: [] })).body).toMatchObject({ default_skill_id: null, unknown_skill: 'reject', rules: [] })
})

test.each([
  [{ default_skill_id: 'two words' }, '/default_skill_id'],
  [{ default_archetype_id: 7 }, '/default_archetype_id'],
  [{ unknown_skill: 'maybe' }, '/unknown_skill'],
  [{ ignore_operations: [''] }, '/ignore_operations/0'],
  [{ rules: [{ ...rule, when: {} }] }, '/rules/0/when'],
  [{ rules: [{ ...rule, when: { a: null } }] }, '/rules/0/when/a'],
  [{ rules: [{ ...rule, set: {} }] }, '/rules/0/set'],
  [{ rules: [{ ...rule, set: { llm_platform: 'openai' } }] }, '/rules/0/set/llm_platform'],
  [{ rules: [rule, { ...rule, when: { 'gen_ai.input.messages': 'x' } }] }, '/rules/1/when/gen_ai.input.messages'],
  [{ rules: Array(101).fill(rule) }, '/rules'],
  [{ other: 1 }, '/other'],
])('400 for %j', async (body, pointer) => {
  const answer = await put(body)
  expect(answer.status).toBe(400)
  expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
})

test('only for administrators of the tenant', () =>
  expectGuarded(hub, 'PUT', path, { body: {}, lacking: scopeNames.filter((scope) => scope !== 'hub:purge') }))
