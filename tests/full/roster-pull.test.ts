import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SyncLab, startSyncLab } from '../roster-sync/sync-lab.ts'
import { groupEntry, manyPeople } from '../support/scim-source.ts'

let lab: SyncLab
beforeAll(async () => {
  lab = await startSyncLab()
})
afterAll(() => lab.close())

test('5,000 people in 12 groups, one of them with everybody, and again', async () => {
  lab.source.users = manyPeople(5000)
  const departments = Array.from({ length: 11 }, (_, index) =>
    groupEntry(
      `Department ${index}`,
      lab.source.users.filter((_person, at) => at % 11 === index),
    ),
  )
  lab.source.groups = [groupEntry('Everybody', lab.source.users), ...departments]
  await lab.connect('acme', [
    { group: 'Everybody', archetype_id: 'employee' },
    { group: 'Department 3', archetype_id: 'analyst' },
  ])
  const beganMs = performance.now()
  const done = await lab.sync('acme')
  process.stdout.write(`5,000 people were pulled in ${Math.round(performance.now() - beganMs)} ms\n`)
  expect(done).toMatchObject({ added: 5000, unmatched: 0, skipped: 0, progress: { done: 5012, total: 5012 } })
  expect(await lab.sync('acme')).toMatchObject({ added: 0, updated: 0, deactivated: 0, unmatched: 0 })
})
