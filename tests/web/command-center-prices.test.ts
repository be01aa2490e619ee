import { describe, expect, test } from 'vitest'
import { markChanges, priceChangeText, releaseText } from '../../web/pages/command-center/marked-changes.ts'
import { priceChangesOf } from '../../web/pages/command-center/price-changes.ts'
import { skillReleasesOf } from '../../web/pages/command-center/skill-releases.ts'

const at = (day: number, hour = 0) => new Date(Date.UTC(2026, 10, day, hour)).toISOString()
const span = { from: Date.parse(at(1)), to: Date.parse(at(30)) }
const price = (model: string, from: string, more: { input?: number; until?: string; platform?: string } = {}) => ({
  ...{ llm_model: model, input_usd_per_mtok: more.input ?? 1, output_usd_per_mtok: 5, effective_from: from },
  ...(more.until && { effective_until: more.until }),
  ...(more.platform && { llm_platform: more.platform }),
})
const changesOf = (prices: ReturnType<typeof price>[], filters = {}) =>
  priceChangesOf(prices, span, filters).map(({ at: time, name }) => `${new Date(time).getUTCDate()} ${name}`)

describe('price changes of a range', () => {
  test('are where a price begins inside it, the earliest first', () => {
    const prices = [price('b', at(20)), price('a', at(12)), price('c', '2026-01-01T00:00:00Z'), price('d', at(30))]
    expect(changesOf(prices)).toEqual(['12 a', '20 b'])
  })

  test('are not where the same price goes on, and are where another one follows', () => {
    expect(changesOf([price('a', '2026-01-01T00:00:00Z'), price('a', at(12))])).toEqual([])
    expect(changesOf([price('a', '2026-01-01T00:00:00Z'), price('a', at(12), { input: 2 })])).toEqual(['12 a'])
  })

  test('are where a price ends and none follows', () => {
    const old = price('a', '2026-01-01T00:00:00Z', { until: at(9) })
    expect(changesOf([old])).toEqual(['9 a'])
    expect(changesOf([old, price('a', at(9), { input: 2 })])).toEqual(['9 a'])
    expect(changesOf([old, price('a', at(12))])).toEqual(['9 a', '12 a'])
  })

  test('are of the model and the platform that the page is filtered by', () => {
    const prices = [
      price('a', at(5)),
      price('b', at(6), { platform: 'claude' }),
      price('c', at(7), { platform: 'slack' }),
    ]
    expect(changesOf(prices, { llm_platform: 'claude' })).toEqual(['5 a', '6 b'])
    expect(changesOf(prices, { llm_model: 'c' })).toEqual(['7 c'])
  })
})

test('changes are marked at the day that they happen in, each model once', () => {
  const slots = [10, 11, 12].map((day) => ({ start: at(day), label: `${day} Nov` }))
  const changes = [
    { at: Date.parse(at(11, 9)), name: 'a' },
    { at: Date.parse(at(11, 9)), name: 'a' },
    { at: Date.parse(at(12)), name: 'a' },
    { at: Date.parse(at(12, 5)), name: 'b' },
    { at: Date.parse(at(9)), name: 'c' },
  ]
  const marked = markChanges(changes, slots)
  expect(marked).toEqual([
    { label: '11 Nov', names: ['a'] },
    { label: '12 Nov', names: ['a', 'b'] },
  ])
  expect(marked.map(priceChangeText)).toEqual(['Price of a changed', 'Prices of 2 models changed'])
})

test('new versions of skills are marked, and their first versions are not', () => {
  const version = (skill_version: string, registered_at: string) => ({ skill_version, registered_at })
  const skills = [
    { skill_id: 's', versions: [version('1.0.0', at(2)), version('1.1.0', at(20))] },
    { skill_id: 't', versions: [version('1.0.0', at(3)), version('2.0.0', at(10)), version('3.0.0', at(30))] },
  ]
  expect(skillReleasesOf(skills, span, {}).map(({ name }) => name)).toEqual(['t 2.0.0', 's 1.1.0'])
  expect(skillReleasesOf(skills, span, { skill_id: 's' }).map(({ name }) => name)).toEqual(['s 1.1.0'])
  expect(releaseText({ label: '10 Nov', names: ['t 2.0.0'] })).toBe('New version: t 2.0.0')
  expect(releaseText({ label: '10 Nov', names: ['t 2.0.0', 's 1.1.0'] })).toBe('2 new skill versions')
})
