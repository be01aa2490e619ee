import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTimestamp } from '../../contract/timestamp.ts'
import { createRecordClock, recordIdFloor } from '../../server/records/record-clock.ts'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function floorOf(text: string): string {
  const { epochMs, microsOfMs } = parseTimestamp(text)!
  return recordIdFloor(epochMs, microsOfMs)
}

test('ids are version 7, of the same reading as the time, and strictly increasing', () => {
  const clock = createRecordClock()
  const before = Date.now() - 3
  const moments = Array.from({ length: 5000 }, () => clock.next())
  for (const [i, { recordId, createdAt, micros }] of moments.entries()) {
    expect(recordId).toMatch(uuidV7)
    const { epochMs, microsOfMs } = parseTimestamp(createdAt)!
    expect(epochMs * 1000 + microsOfMs).toBe(micros)
    expect(Number.parseInt(recordId.replaceAll('-', '').slice(0, 12), 16)).toBe(epochMs)
    expect(Number.parseInt(recordId.slice(15, 18), 16)).toBe(Math.floor((microsOfMs * 4096) / 1000))
    expect(epochMs).toBeGreaterThanOrEqual(before)
    if (i > 0) expect(recordId > moments[i - 1]!.recordId && micros > moments[i - 1]!.micros).toBe(true)
  }
  expect(new Set(moments.map(({ recordId }) => recordId.slice(19))).size).toBe(moments.length)
})

test('bounds on created_at are bounds on record_id, to the microsecond', () => {
  let micros = 1_773_480_413_000_000
  const time = { wallMs: () => Math.floor(micros / 1000), monotonicMs: () => micros / 1000 }
  const clock = createRecordClock(time)
  const moments = Array.from({ length: 3000 }, () => {
    micros += 1
    return clock.next()
  })
  fc.assert(
    fc.property(fc.nat(2999), fc.nat(2999), (a, b) => {
      const floor = floorOf(moments[a]!.createdAt)
      expect(moments[b]!.recordId >= floor).toBe(moments[b]!.createdAt >= moments[a]!.createdAt)
    }),
  )
  expect(floorOf('1969-12-31T23:59:59.999999Z')).toBe(floorOf('1970-01-01T00:00:00Z'))
  expect(floorOf('9999-12-31T23:59:59.999999Z')).toMatch(uuidV7)
})

test('a wall clock that is set back neither repeats nor reorders ids; one that is set forward is followed', () => {
  let wallMs = 1_773_480_413_000
  let monotonicMs = 500
  const clock = createRecordClock({ wallMs: () => wallMs, monotonicMs: () => monotonicMs })
  const first = clock.next()
  wallMs -= 60_000
  const later = Array.from({ length: 100 }, () => {
    monotonicMs += 0.01
    return clock.next()
  })
  expect(later.map(({ micros }) => micros - first.micros)).toEqual(later.map((_, i) => i + 1))
  wallMs += 120_000
  monotonicMs += 1
  expect(clock.next().micros).toBeGreaterThanOrEqual(wallMs * 1000)
})
