import { describe, expect, test } from 'vitest'
import { facetQuery, facetValues } from '../../web/pages/records/facets.ts'

const now = new Date('2026-11-22T10:07:30.000Z')
const events = { record_type: 'telemetry_event' } as const

describe('the counts beside a list of events', () => {
  test('are of its range, widened to quarters of an hour', () => {
    const search = { ...events, created_at__gte: '2026-11-01T00:07:00Z', created_at__lt: '2026-11-02T06:01:00Z' }
    expect(facetQuery(search, now)).toEqual({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T06:15:00.000Z' })
  })

  test.each([[events], [{}]])('are of the last 30 days if it has no start: %j', (search) => {
    expect(facetQuery(search, now)).toEqual({ from: '2026-10-23T10:00:00.000Z', to: '2026-11-22T10:15:00.000Z' })
  })

  test('have its filters', () => {
    const search = {
      ...events,
      skill_id: 's',
      user_id: 'user:kim@acme.example',
      success: 'false',
      error_code: 'X',
    } as const
    expect(facetQuery(search, now)).toMatchObject({
      ...{ skill_id: 's', user_id: 'user:kim@acme.example', success: false, error_code: 'X' },
    })
  })

  test.each([
    [{ record_type: 'decision' }],
    [{ event_kind: 'auth.login' }],
    [{ ...events, q: 'words' }],
    [{ ...events, latency_ms__gte: '100' }],
    [{ ...events, cost_usd__lte: '0.5' }],
    [{ ...events, session_id: 's' }],
    [{ ...events, created_at__gte: '2026-11-02T00:00:00Z', created_at__lt: '2026-11-01T00:00:00Z' }],
  ] as const)('are not those of %j', (search) => {
    expect(facetQuery(search, now)).toBeUndefined()
  })
})

describe('the values of a facet', () => {
  const row = (key: string | null, invocations: number) => ({ ...figures, key, invocations })
  const figures = {
    ...{ invocations: 9, failures: 2, tokens_in: 0, tokens_out: 0, unpriced: 0 },
    ...{ cost_usd_estimate: 0, cost_usd_computed: 0, latency_ms: { p50: 1, p95: 1, p99: 1 } },
  }

  test('are the five most frequent ones', () => {
    const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((key, index) => row(key, index)).concat(row(null, 99))
    const values = facetValues('skill_id', { rows, totals: figures, next_cursor: null })
    expect(values.map(({ value, count }) => [value, count])).toEqual([
      ...[
        ['f', 5],
        ['e', 4],
        ['d', 3],
        ['c', 2],
        ['b', 1],
      ],
    ])
  })

  test('of the result are those that occur', () => {
    const summary = { rows: [], totals: figures, next_cursor: null }
    expect(facetValues('success', summary).map(({ text, count }) => [text, count])).toEqual([
      ['Succeeded', 7],
      ['Failed', 2],
    ])
    const { totals } = { totals: { ...figures, failures: 0 } }
    expect(facetValues('success', { ...summary, totals })).toHaveLength(1)
  })
})
