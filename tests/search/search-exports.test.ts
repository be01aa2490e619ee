import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workLimits } from '../../server/db/work-classes.ts'
import { decision, expectProblem, write } from '../api/record-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

const words = ['tariff', 'depot', 'night', 'winter', 'ledger', 'approval', 'decision', '東京本社', 'fin.check']
let hub: TestHub
const statements: string[] = []

beforeAll(async () => {
  hub = await startHub({ onQuery: (text) => void statements.push(text) })
  for (let at = 0; at < 40; at += 1) {
    const text = words.filter((_, word) => (at * 7 + word * word) % (word + 3) === 0).join(' ')
    const body = at % 2 === 0 ? { ...decision, decision_subject: `${text} ${at}` } : artifact(`${text} ${at}`)
    await write(hub, 'acme', body)
  }
  await write(hub, 'globex', artifact(words.join(' ')))
})
afterAll(() => hub.stop())

const artifact = (title: string) => ({ record_type: 'artifact', title })

/** Returns the ids on all pages of the search. */
async function searched(q: string, filter: { record_type?: string; created_at__lte?: string }) {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = new URLSearchParams({ q, limit: '7', ...filter, ...(cursor && { cursor }) })
    const { status, body, text } = await hub.call('acme', 'GET', `/api/v1/hub/search?${query}`)
    expect(status, text).toBe(200)
    ids.push(...body.results.map(({ record }: { record: { record_id: string } }) => record.record_id))
    if (body.next_cursor === null) return ids.sort()
    cursor = body.next_cursor
  }
}

async function exported(filter: object) {
  const created = await hub.call('acme', 'POST', '/api/v1/hub/records:export', { body: { filter } })
  expect(created.status, created.text).toBe(202)
  for (const deadline = Date.now() + scaled(30_000); Date.now() < deadline; await delay(50)) {
    const { body } = await hub.call('acme', 'GET', `/api/v1/hub/exports/${created.body.job_id}`)
    if (body.status === 'queued' || body.status === 'running') continue
    expect(body.status).toBe('completed')
    const text = await (await fetch(body.download_url)).text()
    const ids = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).record_id]))
    return ids.sort()
  }
  throw new Error('the export does not end')
}

const part = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(...words).map((word) => `-${word}`),
  fc.tuple(fc.constantFrom(...words), fc.constantFrom(...words)).map((pair) => `"${pair.join(' ')}"`),
  fc.constantFrom('7', 'approved', 'export', '"unbalanced'),
)
// The search refuses a side of `or` whose words are all excluded.
const side = fc
  .tuple(fc.constantFrom(...words), fc.array(part, { maxLength: 3 }))
  .map((parts) => parts.flat().join(' '))
const query = fc.array(side, { minLength: 1, maxLength: 2 }).map((sides) => [...sides, 'night'].join(' or '))
const type = fc.option(fc.constantFrom('decision', 'artifact', 'governance_event'), { nil: undefined })

test('an export has exactly the records that the search pages through', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(query, fc.constantFrom(...words, 'where is a winter depot')), type, async (q, only) => {
      const before = await searched(q, only ? { record_type: only } : {})
      const ids = await exported({ q, ...(only && { record_type: [only] }) })
      expect(ids).toEqual(before)
      expect(await searched(q, only ? { record_type: only } : {})).toEqual(before)
    }),
    {
      numRuns: 12,
      examples: [
        ['tariff', undefined],
        ['decision', 'governance_event'],
      ],
    },
  )
})

test('an export has the time limit of its job, and not that of a search', async () => {
  const limited = () =>
    statements.filter((text) => text.includes(`statement_timeout = ${workLimits.search.statementMs}`))
  await searched('tariff', {})
  expect(limited().length).toBeGreaterThan(0)
  statements.length = 0
  await exported({ q: 'tariff' })
  expect(statements.filter((text) => text.includes('search_documents_matching'))).toHaveLength(1)
  expect(limited()).toEqual([])
})

test('an export ends where the search ends', async () => {
  const page = await hub.call('acme', 'GET', '/api/v1/hub/search?q=tariff&limit=100')
  const times = page.body.results.map(({ record }: { record: { created_at: string } }) => record.created_at).sort()
  const earliest: string = times[0]
  const last: string = times[3]
  const until = { created_at__lte: last }
  const ids = await searched('tariff', until)
  expect(ids.length).toBe(4)
  expect(await exported({ q: 'tariff', ...until })).toEqual(ids)
  expect(await exported({ record_type: ['decision', 'artifact'], ...until })).toEqual(expect.arrayContaining(ids))
  expect(await exported({ q: 'tariff', ...until, created_at__lt: earliest })).toEqual([])
  const late = { q: 'tariff', created_at__lt: '9999-01-01T00:00:00Z', created_at__lte: earliest }
  expect(await exported(late)).toEqual(await searched('tariff', { created_at__lte: earliest }))
  const always = { created_at__lte: '9999-12-31T23:59:59.999999Z' }
  expect(await exported({ q: 'tariff', ...always })).toEqual(await searched('tariff', always))
  const filter = { q: 'tariff', created_at__gte: 'soon', created_at__lte: 'later' }
  const refused = await hub.call('acme', 'POST', '/api/v1/hub/records:export', { body: { filter } })
  expectProblem(refused, 'validation-failed', '/filter/created_at__gte', '/filter/created_at__lte')
})

test('the other members of the filter narrow it, and a purged record is absent', async () => {
  const id = await write(hub, 'acme', artifact('walrus one'))
  const other = await write(hub, 'acme', artifact('walrus two'))
  expect(await exported({ q: 'walrus' })).toEqual([id, other].sort())
  expect(await exported({ q: id })).toEqual([id])
  expect(await exported({ q: 'walrus', record_type: ['artifact'], created_at__gte: '2020-01-01T00:00:00Z' })).toEqual(
    [id, other].sort(),
  )
  expect(await exported({ q: 'walrus', created_at__lt: '2020-01-01T00:00:00Z' })).toEqual([])
  expect(await exported({ q: 'walrus', record_type: ['telemetry_event'] })).toEqual([])
  await hub.call('acme', 'DELETE', `/api/v1/hub/records/${id}?reason=x`)
  expect(await exported({ q: 'walrus' })).toEqual([other])
})

test.each([
  ['empty', ''],
  ['too long', 'a'.repeat(501)],
  ['NUL', 'a\0b'],
  ['only operators', '" - or'],
  ['only an excluded word', '-tariff'],
  ['a number', 7],
])('refuses a query: %s', async (_, q) => {
  const answer = await hub.call('acme', 'POST', '/api/v1/hub/records:export', { body: { filter: { q } } })
  expectProblem(answer, 'validation-failed', '/filter/q')
})

test('a member that the search does not have is refused beside q', async () => {
  const filter = { q: 'tariff', user_id: 'user:kim@acme.example', event_kind: 'hub.record_purged' }
  const refused = await hub.call('acme', 'POST', '/api/v1/hub/records:export', { body: { filter } })
  expectProblem(refused, 'validation-failed', '/filter/user_id', '/filter/event_kind')
})
