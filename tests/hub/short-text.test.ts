import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalize, type JsonObject, type JsonValue } from '../../provenance/index.ts'
import { eventMembers } from '../../server/modules/telemetry/ingest/event-writer.ts'
import { createRecordClock } from '../../server/records/record-clock.ts'
import { indexColumnsOf } from '../../server/records/record-columns.ts'
import { restoreText, separator, shortenText, shortString } from '../../server/records/short-text.ts'

const clock = createRecordClock()
const fields = {
  skill_id: 'summarise-ticket',
  skill_version: '1.4.2',
  archetype_id: 'support-agent',
  user_id: 'user:kim@example.com',
  llm_platform: 'claude',
  llm_model: 'claude-sonnet-4-5',
  ts: '2026-11-21T12:00:00.123456Z',
  success: true,
  latency_ms: 1840,
  tokens_in: 1250,
  tokens_out: 310,
  cost_usd_estimate: 0.0084,
  cost_usd_computed: 0.0084,
  price_source: 'genai-prices/0.0.42:anthropic/claude-sonnet-4-5',
}

function eventOf(changes: JsonObject, createdBy = 'client-1') {
  const { recordId, createdAt } = clock.next()
  const all: JsonObject = { ...fields, ...changes }
  const { related_records = [], ...own } = all
  const members = eventMembers(own, {
    ...{ created_at: createdAt, created_by: createdBy, record_id: recordId, record_type: 'telemetry_event' },
    ...{ related_records: related_records as string[], schema_version: '1.0', tenant_id: 'acme' },
  })
  const columns = { ...indexColumnsOf('telemetry_event', all), recordId, tenantId: 'acme', createdBy }
  return { canonical: canonicalize(members), columns }
}

function expectRestored({ canonical, columns }: ReturnType<typeof eventOf>): string {
  const short = shortenText(canonical, columns)
  expect(short, canonical).toBeDefined()
  expect(restoreText(short!.split(separator), columns)).toBe(canonical)
  return short!
}

test('a usual event takes a sixth of its canonical text', () => {
  const event = eventOf({})
  const short = expectRestored(event)
  expect(short.length).toBeLessThan(event.canonical.length / 6)
})

const text = fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.replaceAll('\0', '').toWellFormed())
const marked = fc.constantFrom('', '=', '@', '*', '=null', '@a/*', '"', '\\', '\\"', '~1', 'null', 'a\tb', 'a\nb', '🦊')
const words = fc.oneof(text, marked)
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
const changes = fc.record(
  {
    llm_model: words,
    llm_platform: words,
    skill_version: words,
    price_source: fc.oneof(
      words,
      words.map((model) => `genai-prices/1:x/${model}`),
    ),
    error_code: fc.oneof(words, fc.constant(null)),
    metadata: json,
    related_records: fc.array(fc.uuid(), { maxLength: 3 }),
    parent_span_id: words,
    span_id: words,
    success: fc.boolean(),
    tokens_total_reported: fc.maxSafeInteger(),
    cost_usd_estimate: fc.integer({ min: 0, max: 1e15 }).map((micros) => micros / 1e6),
    cost_usd_computed: fc.integer({ min: 0, max: 1e15 }).map((micros) => micros / 1e6),
    ts: fc.oneof(
      words,
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString().replace('Z', '789Z')),
    ),
    trace_id: words.filter((id) => id !== ''),
    session_id: words.filter((id) => id !== ''),
    user_id: words.filter((id) => id !== ''),
  },
  { requiredKeys: [] },
)

test('every event is restored byte for byte, or is kept in full', () => {
  let kept = 0
  fc.assert(
    fc.property(changes, (some) => {
      const event = eventOf(some as JsonObject)
      const { sessionId, userId } = event.columns
      // The columns are joined by tabs, and the texts of a seal by line breaks.
      if (shortenText(event.canonical, event.columns) !== undefined) expectRestored(event)
      else expect(`${sessionId}${userId}`, event.canonical).toMatch(/[\t\n]/)
      kept++
    }),
    { numRuns: 2000 },
  )
  expect(kept).toBeGreaterThan(1000)
})

test('a text that is no event’s, or that other columns belong to, is kept in full', () => {
  const { canonical, columns } = eventOf({})
  const long = eventOf({ metadata: { note: 'x'.repeat(2000) } })
  const refused: [string, typeof columns][] = [
    ['', columns],
    ['{}', columns],
    [canonical.slice(0, -1), columns],
    [`${canonical} `, columns],
    [canonical.replace('"success":true', '"success":true,"surprise":1'), columns],
    [canonical.replace('"related_records":[],', ''), columns],
    [canonical, { ...columns, skillId: 'other' }],
    [canonical, { ...columns, userId: null }],
    [canonical, { ...columns, sessionId: 'a session' }],
    [canonical, { ...columns, costMicros: 8401 }],
    [canonical, { ...columns, recordId: clock.next().recordId }],
    [long.canonical, long.columns],
  ]
  for (const [text, given] of refused) expect(shortenText(text, given), text).toBeUndefined()
})

test('a damaged short text restores nothing, or another text', () => {
  const event = eventOf({ error_code: 'timeout', success: false })
  const values = expectRestored(event).split(separator)
  expect(restoreText(values.slice(1), event.columns)).toBeUndefined()
  expect(restoreText(['~2', ...values.slice(1)], event.columns)).toBeUndefined()
  for (const at of values.keys()) {
    if (at === 0) continue
    const altered = values.map((value, index) => (index === at ? `${value}1` : value))
    expect(restoreText(altered, event.columns), String(at)).not.toBe(event.canonical)
  }
})

test('a value of a filter has the form that texts contain', () => {
  for (const code of ['timeout', '=x', '@x', 'say "x"', 'null', '']) {
    const short = expectRestored(eventOf({ error_code: code, success: false }))
    expect(short.split(separator)).toContain(shortString(code))
  }
})
