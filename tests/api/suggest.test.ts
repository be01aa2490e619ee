import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import { signIn } from '../auth/people.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'
import { decision, expectProblem, pathOf, skillDefinition, write } from './record-cases.ts'
import { prepareTelemetry } from './telemetry-tenants.ts'

const path = '/api/v1/suggest'
let hub: TestHub
let record: string

beforeAll(async () => {
  hub = await startHub()
  await prepareTelemetry(hub, 'acme')
  const archetypes = [{ archetype_id: 'analyst', name: 'Quartermaster' }]
  await hub.call('acme', 'PUT', '/api/v1/roster/archetypes', { body: { archetypes } })
  await write(hub, 'acme', { ...skillDefinition('fin.invoice-check'), name: 'Check of 100 % of bills' })
  record = await write(hub, 'acme', { ...decision, decision_subject: 'Invoicing of the branch in Ulm' })
  await write(hub, 'acme', { record_type: 'governance_event', event_kind: 'custom.invoice-lost' })
  await write(hub, 'globex', { ...decision, decision_subject: 'Invoicing of globex' })
  await signIn(hub, 'acme', { role: 'member' })
  await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event({ ts: new Date().toISOString() }) })
  await hub.modules.rollups.rollups.fold('acme')
})
afterAll(() => hub.stop())

async function suggest(q: string, more = '', scopes?: readonly Scope[]) {
  const answer = await hub.call('acme', 'GET', `${path}?q=${encodeURIComponent(q)}${more}`, scopes ? { scopes } : {})
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.next_cursor).toBeNull()
  expect(answer.body.items.length).toBeLessThanOrEqual(10)
  return answer.body.items as { kind: string; id: string; label: string }[]
}

describe('suggests', () => {
  test('skills by a part of id or name', async () => {
    const skill = { kind: 'skill', id: 'fin.invoice-check', label: 'Check of 100 % of bills' }
    for (const q of ['voice-ch', 'OF 100 %', 'invoice']) expect(await suggest(q, '&kind=skill')).toEqual([skill])
    expect(await suggest('100_%', '&kind=skill')).toEqual([])
  })

  test('people, archetypes and models', async () => {
    const [person] = await suggest('@', '&kind=person')
    expect(person).toMatchObject({ kind: 'person', id: expect.stringMatching(/^usr_/) })
    expect(await suggest('NALY', '&kind=archetype')).toMatchObject([{ kind: 'archetype', id: 'analyst' }])
    const model = 'claude-3-haiku-20240307'
    expect(await suggest('haiku', '&kind=model')).toEqual([{ kind: 'model', id: model, label: model }])
  })

  test('records by parts of the words of their titles', async () => {
    const found = { kind: 'record', id: record, label: 'Invoicing of the branch in Ulm' }
    for (const q of ['invoicing bra', 'bra invoicing', 'Ulm', 'br', 'branch in', 'voicin', 'oicing, ANCH']) {
      expect(await suggest(q, '&kind=record'), q).toEqual([found])
    }
    expect(await suggest('voicing of Bonn', '&kind=record')).toEqual([])
    await hub.call('acme', 'DELETE', pathOf(record, '?reason=x'))
    for (const q of ['Ulm', 'voicin']) expect(await suggest(q, '&kind=record')).toEqual([])
    await hub.call('acme', 'POST', pathOf(record, ':restore'))
  })

  test('records by the longest words of many, and the last', async () => {
    const title =
      'alphabet bravissimo charlatan deltoid echolocation foxglove golfing hotelier indigo juliet kilometre lima'
    const id = await write(hub, 'acme', { record_type: 'artifact', title })
    const found = [{ kind: 'record', id, label: title }]
    expect(await suggest(`xy zz ${title}`, '&kind=record')).toEqual(found)
    expect(await suggest(`${title} zz`, '&kind=record')).toEqual([])
    expect(await suggest('zz lima', '&kind=record')).toEqual([])
  })

  test('records by their id, and by its beginning', async () => {
    // Events about the record contain its id, too.
    expect((await suggest(record.toUpperCase(), '&kind=record'))[0]).toMatchObject({ id: record })
    for (const length of [8, 9, 20, 35]) {
      const ids = (await suggest(record.slice(0, length), '&kind=record')).map(({ id }) => id)
      expect(ids, record.slice(0, length)).toContain(record)
    }
    // Events whose details name the record are found by the words of their details.
    for (const none of [record.slice(0, 7), `${record.slice(0, 8)}x`, `${record}0`, record.replace('-', '0')]) {
      const ids = (await suggest(none, '&kind=record')).map(({ id }) => id)
      expect(ids, none).not.toContain(record)
    }
  })

  test('all kinds in turns', async () => {
    const kinds = (await suggest('invoic')).map(({ kind }) => kind)
    expect(kinds.slice(0, 2)).toEqual(['skill', 'record'])
    expect(await suggest('invoicing of globex')).toEqual([])
  })

  test('only what the token may read', async () => {
    const kindsFor = async (q: string, scopes: Scope[]) => {
      return [...new Set((await suggest(q, '', scopes)).map(({ kind }) => kind))].sort()
    }
    expect(await kindsFor('invoic', ['governance:read'])).toEqual(['record'])
    expect(await suggest('invoicing', '', ['governance:read'])).toEqual([])
    expect(await kindsFor('a', ['roster:read'])).toEqual(['archetype', 'person'])
    expect(await kindsFor('a', ['telemetry:write'])).toEqual([])
    const skill = { kind: 'skill', id: 'fin.invoice-check', label: 'fin.invoice-check' }
    expect(await suggest('invoice', '', ['telemetry:read'])).toEqual([skill])
    expect(await suggest('bills', '', ['telemetry:read'])).toEqual([])
    const archetype = { kind: 'archetype', id: 'analyst', label: 'analyst' }
    expect(await suggest('naly', '&kind=archetype', ['telemetry:read'])).toEqual([archetype])
    expect(await suggest('quarter', '', ['telemetry:read', 'skill_entitlement:read'])).toEqual([])
    expect(await suggest('quarter', '', ['roster:read'])).toEqual([{ ...archetype, label: 'Quartermaster' }])
  })

  test.each(['%', '_', '\\', "'", '"', '|', 'a'.repeat(500), '本', '--'])('for %s, nothing fails', async (q) => {
    await suggest(q)
  })
})

test.each([
  ['no text', path, '/query/q'],
  ['an empty text', `${path}?q=`, '/query/q'],
  ['a long text', `${path}?q=${'a'.repeat(501)}`, '/query/q'],
  ['NUL', `${path}?q=a%00`, '/query/q'],
  ['an unknown kind', `${path}?q=a&kind=tenant`, '/query/kind'],
  ['an unknown parameter', `${path}?q=a&limit=5`, '/query/limit'],
])('refuses %s', async (_, bad, pointer) => {
  expectProblem(await hub.call('acme', 'GET', bad), 'validation-failed', pointer)
})

test('needs a token of the tenant', async () => {
  expectProblem(await hub.call('acme', 'GET', `${path}?q=a`, { token: null }), 'authentication-failed')
  expectProblem(await hub.call('acme', 'GET', `${path}?q=a`, { token: await hub.token('globex') }), 'invalid-tenant')
})
