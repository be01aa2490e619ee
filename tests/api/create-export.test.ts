import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordTypes } from '../../contract/literals.ts'
import type { Scope } from '../../contract/scopes.ts'
import { allRefused, commonRejections } from '../auth/auth-hub.ts'
import { type ExportsHub, orderPath, startExportsHub } from '../exports/ordered-exports.ts'

let lab: ExportsHub
beforeAll(async () => {
  lab = await startExportsHub()
})
afterAll(() => lab.close())

const order = (body?: unknown, scopes?: readonly Scope[]) =>
  lab.call('acme', 'POST', orderPath, { body, ...(scopes && { scopes }) })
const pointersOf = (body: { errors: { pointer: string }[] }) => body.errors.map(({ pointer }) => pointer)
const rowsOf = async (jobId: string) => {
  const { download_url } = await lab.ended('acme', jobId)
  const text = await lab.fetched(download_url)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const orderEvent = async (jobId: string) =>
  (await lab.events('acme')).find(
    ({ event_kind, subject }) => event_kind === 'hub.export_created' && subject === `export:${jobId}`,
  )

test('is accepted, and says where to look', async () => {
  const { status, headers, body } = await order({
    filter: { tenant_id: 'acme', record_type: ['artifact'], created_at__gte: '2020-01-01T01:00:00+01:00' },
    format: 'jsonl',
    verify: true,
    include_provenance: true,
  })
  expect(status).toBe(202)
  expect(body).toEqual({
    job_id: expect.stringMatching(/^exp_[A-Za-z0-9]{24}$/),
    status: 'queued',
    estimated_completion_ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  })
  expect(headers.get('location')).toBe(`/api/v1/hub/exports/${body.job_id}`)
  const rows = await rowsOf(body.job_id)
  expect(rows.map(({ title }) => title)).toEqual([0, 1, 2, 3, 4].map((row) => `Contract ${row}`))
  expect(rows[0]).toMatchObject({ provenance_cosign: expect.any(String), verification: { verified: true } })
  expect((await lab.ended('acme', body.job_id)).verification_summary).toEqual({
    ...{ checked: 5, verified: 5, tampered: 0, cosign_invalid: 0 },
  })
  expect(await orderEvent(body.job_id)).toMatchObject({
    details: {
      filter: { record_type: ['artifact'], created_at__gte: '2020-01-01T00:00:00.000000Z' },
      ...{ format: 'jsonl', verify: true, include_provenance: true, record_types: ['artifact'] },
      ...{ address: '127.0.0.1', request_id: headers.get('x-service-request-id') },
    },
  })
})

test.each([undefined, {}, { filter: {} }])('of nothing in particular is of everything, as JSONL: %j', async (body) => {
  const { job_id } = (await order(body)).body
  const ended = await lab.ended('acme', job_id)
  expect([ended.status, ended.format]).toEqual(['completed', 'jsonl'])
  expect(ended).not.toHaveProperty('verification_summary')
  const rows = await rowsOf(job_id)
  expect(new Set(rows.map(({ record_type }) => record_type))).toEqual(new Set(['artifact', 'governance_event']))
  expect(rows[0]).not.toHaveProperty('provenance_cosign')
  expect((await orderEvent(job_id))?.details.record_types).toEqual(recordTypes)
})

test.each([
  { format: 'csv' },
  { format: 'csv', compression: 'gzip' },
  { format: 'parquet' },
  { format: 'jsonl', compression: 'gzip' },
])('in other forms: %j', async (body) => {
  expect((await lab.ended('acme', (await order(body)).body.job_id)).status).toBe('completed')
})

describe('covers types that the token may read', () => {
  test.each<[Scope[], string[]]>([
    [['governance:read'], ['governance_event']],
    [['telemetry:read'], ['telemetry_event']],
    [
      ['telemetry:read', 'governance:read'],
      ['telemetry_event', 'governance_event'],
    ],
  ])('and of no type in particular needs all: %j', async (scopes, readable) => {
    for (const sent of [undefined, {}, { filter: { user_id: 'user:kim@example.com' } }]) {
      const { status, body } = await order(sent, scopes)
      expect([status, body.type.split('/').at(-1)]).toEqual([403, 'insufficient-scope'])
      expect(body.required_scopes).toEqual(['hub:read'])
      const named = JSON.parse(/\[.*\]/.exec(body.detail)![0])
      expect([...named].sort()).toEqual([...readable].sort())
      expect((await order({ filter: { record_type: named } }, scopes)).status).toBe(202)
    }
  })

  test('those that are named alone', async () => {
    const { job_id } = (await order({ filter: { record_type: ['governance_event'] } }, ['governance:read'])).body
    const rows = await rowsOf(job_id)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.every(({ record_type }) => record_type === 'governance_event')).toBe(true)
    expect((await orderEvent(job_id))?.details.record_types).toEqual(['governance_event'])
  })

  test.each<[string[], Scope[], Scope[]]>([
    [['artifact'], ['governance:read'], ['hub:read']],
    [['telemetry_event', 'governance_event'], ['telemetry:read'], ['governance:read']],
    [['telemetry_event'], ['governance:read'], ['telemetry:read']],
    [['output', 'telemetry_event'], ['governance:read'], ['hub:read', 'telemetry:read']],
  ])('and is refused for %j to %j', async (record_type, scopes, required_scopes) => {
    const { status, body } = await order({ filter: { record_type } }, scopes)
    expect([status, body.type.split('/').at(-1)]).toEqual([403, 'insufficient-scope'])
    expect(body.required_scopes).toEqual(required_scopes)
    await lab.hub.modules.denials.settled()
    const refused = (await lab.events('acme')).filter(({ event_kind }) => event_kind === 'auth.access_refused')
    expect(refused.at(-1)).toMatchObject({
      details: { reason: 'scope', operation_id: 'createExport', required_scopes },
    })
  })

  test('types of several scopes together', async () => {
    const record_type = ['telemetry_event', 'governance_event']
    expect((await order({ filter: { record_type } }, ['telemetry:read', 'governance:read'])).status).toBe(202)
  })
})

test.each(['globex', 'nobody', 'ACME', ''])('the filter of another tenant is refused: %j', async (tenant_id) => {
  const { status, body } = await order({ filter: { tenant_id } })
  expect([status, body.type.split('/').at(-1), body.tenant_slug]).toEqual([403, 'invalid-tenant', tenant_id])
})

test.each<[string, unknown, string]>([
  ['a member of its own', { records: 'all' }, '/records'],
  ['a filter of nothing', { filter: null }, '/filter'],
  ['an unknown filter', { filter: { limit: 5 } }, '/filter/limit'],
  ['one type without a list', { filter: { record_type: 'artifact' } }, '/filter/record_type'],
  ['no type', { filter: { record_type: [] } }, '/filter/record_type'],
  ['an unknown type', { filter: { record_type: ['artifact', 'email'] } }, '/filter/record_type/1'],
  ['a type twice', { filter: { record_type: ['artifact', 'artifact'] } }, '/filter/record_type'],
  ['a time that is none', { filter: { created_at__gte: 'yesterday' } }, '/filter/created_at__gte'],
  ['an end that is none', { filter: { created_at__lt: '2026-02-30T00:00:00Z' } }, '/filter/created_at__lt'],
  ['an id that is none', { filter: { record_id: '7' } }, '/filter/record_id'],
  ['a tenant that is no text', { filter: { tenant_id: 7 } }, '/filter/tenant_id'],
  ['another format', { format: 'xlsx' }, '/format'],
  ['another compression', { compression: 'zip' }, '/compression'],
  ['parquet compressed twice', { format: 'parquet', compression: 'gzip' }, '/compression'],
  ['yes for true', { verify: 'yes' }, '/verify'],
  ['one for true', { include_provenance: 1 }, '/include_provenance'],
])('%s is refused with a pointer', async (_, sent, pointer) => {
  const { status, body } = await order(sent)
  expect(status, JSON.stringify(body)).toBe(400)
  expect(pointersOf(body)).toEqual([pointer])
})

test('no body but an object of JSON is taken', async () => {
  expect((await order([])).status).toBe(400)
  const headers = { 'content-type': 'text/csv' }
  expect((await lab.call('acme', 'POST', orderPath, { body: {}, headers })).status).toBe(415)
})

test('without token, scope or tenant nothing begins', async () => {
  expect(
    await commonRejections(lab, 'POST', orderPath, { scopes: ['hub:write', 'telemetry:write'], body: {} }),
  ).toEqual(allRefused)
})
