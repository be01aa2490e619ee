import { expect, test } from 'vitest'
import {
  byArchetype,
  fulfilled,
  type PendingGrants,
  toggled,
  unfulfilled,
} from '../../web/pages/grants/pending-grants.ts'

const given = (...pairs: [archetype: string, skill: string][]) =>
  byArchetype(
    pairs.map(([archetype_id, skill_id]) => ({ archetype_id, skill_id, granted_at: '2026-01-01T00:00:00Z' })) as never,
  )
const nothing: PendingGrants = new Map()

test('a wish says what shall be: the same grant by somebody else fulfils it, and does not turn it round', () => {
  const before = given(['seller', 'pitch'])
  const wishes = toggled(nothing, before, 'seller', 'forecast')
  expect(unfulfilled(wishes, before)).toEqual(new Map([['seller', new Map([['forecast', true]])]]))

  const after = given(['seller', 'pitch'], ['seller', 'forecast'])
  expect(unfulfilled(wishes, after)).toEqual(nothing)
  expect(fulfilled(['pitch', 'forecast'], wishes.get('seller') ?? new Map())).toEqual(['pitch', 'forecast'])
})

test('the same holds for what is taken', () => {
  const wishes = toggled(nothing, given(['seller', 'pitch']), 'seller', 'pitch')
  expect(unfulfilled(wishes, given())).toEqual(nothing)
  expect(fulfilled(['of somebody else'], wishes.get('seller') ?? new Map())).toEqual(['of somebody else'])
})

test('a second toggle takes the wish back, also where somebody else fulfilled it meanwhile', () => {
  const before = given()
  const wishes = toggled(nothing, before, 'seller', 'pitch')
  expect(toggled(wishes, before, 'seller', 'pitch')).toEqual(nothing)
  // What is shown is given by now, so the opposite is to take it.
  expect(toggled(wishes, given(['seller', 'pitch']), 'seller', 'pitch')).toEqual(
    new Map([['seller', new Map([['pitch', false]])]]),
  )
})
