import { describe, expect, test } from 'vitest'
import { reasonToAsk } from '../../server/modules/roster/sync/sync-completion.ts'
import { firstPosition } from '../../server/modules/roster/sync/sync-state.ts'

const met = { ...firstPosition('absent', 200), users: 100, groups: 5 }
const roster = { unseen: 0, active: 100, groups: 5 }

describe('asks before it deactivates', () => {
  test.each([
    ['more than 20 % and more than 10', met, { unseen: 21 }, /21 of 100/],
    ['everybody, however few', { ...met, users: 0 }, { unseen: 2, active: 2 }, /has no people/],
    ['somebody, on a doubtful answer', { ...met, usersDoubtful: true }, { unseen: 1 }, /more people than it returned/],
    ['all groups', { ...met, groups: 0 }, { groups: 2 }, /no groups/],
    ['most groups', { ...met, groups: 30 }, { groups: 50 }, /20 of 50 groups/],
  ])('%s', (_name, position, counts, words) => {
    expect(reasonToAsk(position, { ...roster, ...counts })).toMatch(words)
  })
})

describe('does not ask', () => {
  test.each([
    ['for nobody', met, {}],
    ['for 20 %', met, { unseen: 20 }],
    ['for ten of a few', { ...met, users: 5 }, { unseen: 10, active: 15 }],
    ['for nobody in an empty directory', { ...met, users: 0, groups: 0 }, { active: 0, groups: 0 }],
    ['for nobody on a doubtful answer', { ...met, usersDoubtful: true }, {}],
    ['for one group', { ...met, groups: 0 }, { groups: 1 }],
  ])('%s', (_name, position, counts) => {
    expect(reasonToAsk(position, { ...roster, ...counts })).toBeUndefined()
  })
})
