import { describe, expect, test } from 'vitest'
import { sameView, viewQuery } from '../../web/components/view-query.ts'
import { filtersOf, nextDimension, recordsOf } from '../../web/pages/command-center/breakdown/dimensions.ts'
import { changeOf, failureRate, worseningOf } from '../../web/pages/command-center/trends.ts'
import { csvOf } from '../../web/ui/csv-text.ts'

describe('a change against the period before', () => {
  test.each([
    [150, 100, { direction: 'up', ratio: 0.5 }],
    [50, 100, { direction: 'down', ratio: -0.5 }],
    [100, 100, { direction: 'same', ratio: 0 }],
    [5, 0, { direction: 'up', ratio: undefined }],
    [0, 0, { direction: 'same', ratio: 0 }],
    [undefined, 3, undefined],
    [3, undefined, undefined],
  ])('%s after %s', (now, before, change) => {
    expect(changeOf(now, before)).toEqual(change)
  })

  test('nothing invoked has no share of failures', () => {
    expect(failureRate({ invocations: 0, failures: 0 })).toBeUndefined()
  })
})

describe('fails now, and did not before', () => {
  const of = (failures: number, invocations: number) => ({ failures, invocations })
  test.each([
    ['three failures after none', of(3, 100), of(0, 100), 'new'],
    ['two failures after none', of(2, 2), of(0, 100), undefined],
    ['a new skill of which a tenth fails', of(3, 30), undefined, 'new'],
    ['a new skill of which less fails', of(3, 31), undefined, undefined],
    ['a skill whose period before is empty', of(3, 31), of(0, 0), undefined],
    ['twice the share, and five points more', of(10, 100), of(5, 100), 'sharp'],
    ['twice the share, four points more', of(8, 100), of(4, 100), undefined],
    ['five points more, not twice the share', of(25, 100), of(20, 100), undefined],
    ['less than before', of(5, 100), of(50, 100), undefined],
  ])('%s', (_, now, before, worsening) => {
    expect(worseningOf(now, before)).toBe(worsening)
  })
})

test('drilling down goes on with the next dimension that is no filter yet', () => {
  expect(nextDimension({ skill_id: 'a' }, 'skill')).toBe('archetype')
  expect(nextDimension({ skill_id: 'a', archetype_id: 'b', llm_model: 'c' }, 'model')).toBe('user')
  const all = { skill_id: 'a', archetype_id: 'b', user_id: 'c', llm_platform: 'd', llm_model: 'e' }
  expect(nextDimension(all, 'user')).toBe('user')
  expect(filtersOf({ ...all, range: '7d' } as typeof all)).toEqual(all)
})

test('the records behind figures have the same filters', () => {
  expect(recordsOf({ skill_id: 'a', llm_model: 'e' }, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')).toEqual({
    record_type: 'telemetry_event',
    created_at__gte: '2026-01-01T00:00:00Z',
    created_at__lt: '2026-01-02T00:00:00Z',
    skill_id: 'a',
    llm_model: 'e',
  })
})

test('states of a page are the same in any order, and whatever view they came from', () => {
  expect(sameView('range=7d&skill_id=a%20b', 'skill_id=a+b&view=view_1&range=7d')).toBe(true)
  expect(sameView('range=7d', 'range=30d')).toBe(false)
  expect(viewQuery({ skill_id: 'ä', range: undefined, view: 'view_1' })).toBe('skill_id=%C3%A4')
})

test('a file of figures has no formulas, and numbers as they are', async () => {
  interface Line {
    key: string | undefined
    value: number | undefined
  }
  const columns = [
    { id: 'key', label: 'Key', value: (line: Line) => line.key },
    { id: 'value', label: 'Value', value: (line: Line) => line.value },
  ]
  const rows = [
    { key: '=1+1', value: -0.5 },
    { key: 'a,"b"', value: 1234.567891 },
    { key: '+49', value: 0 },
    { key: '@x', value: 1 },
    { key: '-y', value: 2 },
    { key: undefined, value: undefined },
  ]
  expect(await csvOf(columns, rows)).toBe(
    ['key,value', "'=1+1,-0.5", '"a,""b""",1234.567891', "'+49,0", "'@x,1", "'-y,2", ',', ''].join('\r\n'),
  )
})
