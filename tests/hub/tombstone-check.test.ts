import { expect, test } from 'vitest'
import { recoveryEndOf } from '../../provenance/purge-event.ts'
import { checkTombstone, type StateChange } from '../../server/modules/integrity-sweep/event-check.ts'
import type { TombstoneRow } from '../../server/modules/integrity-sweep/sweep-store.ts'

const purgedAt = '2026-03-14T09:26:53.589793Z'
const end = '2026-04-13T09:26:53.589793Z'
const tombstone: TombstoneRow = {
  record_id: 'record-1',
  record_type: 'decision',
  seal_id: 'seal-1',
  leaf_index: 0,
  purged_at: purgedAt,
  purged_by: 'client-1',
  purge_reason: 'Request 17',
  purge_event_id: 'purge-1',
  event_id: 'erasure-1',
  erased_at: end,
}
const purged: StateChange = {
  eventId: 'purge-1',
  kind: 'hub.record_purged',
  recordId: 'record-1',
  details: { purged_at: purgedAt, hard_delete_after: end },
}
const details = {
  record_type: 'decision',
  purged_at: purgedAt,
  purged_by: 'client-1',
  reason: 'Request 17',
  seal_id: 'seal-1',
  leaf_index: 0,
  purge_event: 'purge-1',
  erased_at: end,
}
const erasedAt = (time: string, more = {}): [TombstoneRow, StateChange] => [
  { ...tombstone, erased_at: time },
  {
    eventId: 'erasure-1',
    kind: 'hub.record_hard_deleted',
    recordId: 'record-1',
    details: { ...details, erased_at: time, ...more },
  },
]
const isFound = ([row, erased]: [TombstoneRow, StateChange], purge: StateChange | undefined = purged) =>
  checkTombstone(row, { erased, purged: purge }, undefined).length > 0

const tooSoon = '2026-04-13T09:26:53.589792Z'

test('an erasure before the end of the buffer that the purge tells of is found', () => {
  expect(isFound(erasedAt(end))).toBe(false)
  expect(isFound(erasedAt(tooSoon))).toBe(true)
  const later = { ...purged, details: { ...purged.details, hard_delete_after: '2026-05-01T00:00:00.000000Z' } }
  expect(isFound(erasedAt(end), later)).toBe(true)
})

test('events that do not tell of an end stand for 30 days', () => {
  const old = { ...purged, details: { purged_at: purgedAt } }
  expect(isFound(erasedAt(end), old)).toBe(false)
  expect(isFound(erasedAt('2026-04-13T09:26:53.588999Z'), old)).toBe(true)
  expect(recoveryEndOf({ purged_at: 'infinity' })).toBeUndefined()
  expect(recoveryEndOf({})).toBeUndefined()
})

test('a repeated erasure asks for no buffer, and one as of another time says so', () => {
  expect(isFound(erasedAt(tooSoon, { repeated: true }))).toBe(false)
  expect(isFound(erasedAt(tooSoon, { as_of: end }))).toBe(false)
  expect(isFound(erasedAt(tooSoon, { as_of: tooSoon }))).toBe(true)
})

test('the event of the purge must exist and name this purge', () => {
  expect(checkTombstone(tombstone, { erased: erasedAt(end)[1], purged: undefined }, undefined)).toHaveLength(1)
  for (const change of [
    { kind: 'hub.record_restored' },
    { recordId: 'record-2' },
    { eventId: 'purge-2' },
    { details: { ...purged.details, purged_at: '2026-03-01T00:00:00.000000Z' } },
  ]) {
    expect(isFound(erasedAt(end), { ...purged, ...change }), JSON.stringify(change)).toBe(true)
  }
})
