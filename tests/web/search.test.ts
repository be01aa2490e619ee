import { expect, test } from 'vitest'
import { faultsOf, withoutFaults } from '../../web/components/search-schemas.ts'
import { snippetParts } from '../../web/components/snippet-parts.ts'
import { filterValueOf } from '../../web/components/suggestion.ts'
import { fitsSearch, queryOf, searchQueryOf } from '../../web/pages/records/record-query.ts'
import { type RecordsSearch, recordsSearch } from '../../web/pages/records/records-search.ts'

test('a snippet is split at its marks, and stays text whatever it contains', () => {
  expect(snippetParts('Choose a ‹payment› <b>‹provider›</b>')).toEqual([
    { text: 'Choose a ', isMatch: false },
    { text: 'payment', isMatch: true },
    { text: ' <b>', isMatch: false },
    { text: 'provider', isMatch: true },
    { text: '</b>', isMatch: false },
  ])
  expect(snippetParts('‹one› ‹')).toEqual([
    { text: 'one', isMatch: true },
    { text: ' ‹', isMatch: false },
  ])
  expect(snippetParts('› none ‹')).toEqual([{ text: '› none ‹', isMatch: false }])
  expect(snippetParts('')).toEqual([])
})

test('a suggested person is the address in filters by user, and the id in others', () => {
  const person = { kind: 'person', id: 'usr_1', label: 'Ada Abara (ada@acme.example)' } as const
  expect(filterValueOf(person, 'created_by')).toBe('usr_1')
  expect(filterValueOf(person, 'user_id')).toBe('user:ada@acme.example')
  expect(filterValueOf({ ...person, label: 'ada@acme.example' }, 'user_id')).toBe('user:ada@acme.example')
  expect(filterValueOf({ ...person, label: 'Ada Abara' }, 'user_id')).toBe(undefined)
})

test('a suggestion becomes the subject of events with its kind', () => {
  const subjectOf = (kind: 'skill' | 'person' | 'archetype' | 'model' | 'record') =>
    filterValueOf({ kind, id: 'x', label: 'y' }, 'subject')
  expect(subjectOf('skill')).toBe('skill:x')
  expect(subjectOf('person')).toBe('user:x')
  expect(subjectOf('archetype')).toBe('archetype:x')
  expect(subjectOf('record')).toBe('record:x')
  expect(subjectOf('model')).toBe(undefined)
})

test('a search in the address becomes a query with the filters that apply to it', () => {
  const parse = (given: object) => recordsSearch['~standard'].validate(given)
  const { value } = parse({ q: '  refund policy ', record_type: 'decision', user_id: 'user:a@b.example' }) as {
    value: { q: string }
  }
  expect(searchQueryOf({ ...value, created_at__lt: '2026-03-01T00:00:00.000Z' }, new Date())).toEqual({
    ...{ q: 'refund policy', record_type: 'decision', created_at__lte: '2026-02-28T23:59:59.999999Z' },
  })
  expect(parse({ q: 'x'.repeat(501) })).toMatchObject({ value: { missed: expect.stringContaining('q=xxx') } })
})

test('filters of telemetry events become typed parameters, and are checked against the record', () => {
  const address = { success: 'false', error_code: 'timeout', latency_ms__gte: '250', cost_usd__lte: '0.5' }
  const { value: search } = recordsSearch['~standard'].validate(address) as { value: RecordsSearch }
  const now = new Date()
  expect(queryOf(search, now)).toMatchObject({
    success: false,
    error_code: 'timeout',
    latency_ms__gte: 250,
    cost_usd__lte: 0.5,
  })
  const event = {
    success: false,
    error_code: 'timeout',
    latency_ms: 250,
    cost_usd_estimate: 0.9,
    cost_usd_computed: 0.5,
  }
  const fits = fitsSearch(search, now)
  expect(fits(event)).toBe(true)
  expect(fits({ ...event, error_code: 'rate_limit' })).toBe(false)
  expect(fits({ ...event, latency_ms: 249 })).toBe(false)
  expect(fits({ ...event, cost_usd_computed: 0.6 })).toBe(false)
  const wrong = recordsSearch['~standard'].validate({ success: 'no', latency_ms__gte: '1e3', trace_id: 'x' })
  expect(wrong).toMatchObject({ value: { missed: 'success=no&latency_ms__gte=1e3&trace_id=x' } })
})

test('parameters of an address that have no effect are named, with the values that are allowed', () => {
  const given = { foo: '1', skill_id: 'a', success: 'no', sort: 'name', cost_usd__gte: 'x', user_id: '' }
  const parse = (search: object) => recordsSearch['~standard'].validate(search) as { value: Record<string, unknown> }
  const { value } = parse(given)
  expect(value).toMatchObject({ skill_id: 'a', success: undefined, sort: undefined })
  // The router keeps the parameters that no schema names.
  const search = { ...given, ...value }
  expect(faultsOf(search, recordsSearch.entries)).toEqual({
    unknown: ['foo'],
    unusable: [
      { name: 'success', value: 'no', allowed: 'true, false' },
      { name: 'cost_usd__gte', value: 'x', allowed: 'a number such as 0.25' },
      { name: 'sort', value: 'name', allowed: 'created_at, -created_at, cost_usd_estimate, -cost_usd_estimate' },
    ],
  })
  // The address is read again after each change, and the notice stays until it is dismissed.
  expect(faultsOf(parse(search).value, recordsSearch.entries).unusable).toHaveLength(3)
  const left = withoutFaults(search, recordsSearch.entries)
  expect(faultsOf(left, recordsSearch.entries)).toEqual({ unknown: [], unusable: [] })
  expect(left).toMatchObject({ skill_id: 'a' })
  expect(faultsOf({ add: '1' })).toEqual({ unknown: ['add'], unusable: [] })
  expect(faultsOf({ missed: 'constructor=x&foo=1' }, recordsSearch.entries).unusable).toEqual([])
})
