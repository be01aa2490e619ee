import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Directory } from '../../server/modules/roster/directory/directory-types.ts'
import { actor, type DirectoryLab, group, openDirectoryLab, person } from '../roster/directory-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const people = 5_000
const pageSize = 500
const groupCount = 50

let hub: TestHub
let lab: DirectoryLab
let statements = 0
function countStatement(): void {
  statements += 1
}
beforeAll(async () => {
  hub = await startHub({ onQuery: countStatement })
  lab = openDirectoryLab(hub)
  await lab.archetypes('agent', 'lead')
  await lab.map({ 'Group 0': 'lead', ...Object.fromEntries(groups.map(({ displayName }) => [displayName, 'agent'])) })
})
afterAll(() => hub.stop())

const users = Array.from({ length: people }, (_, n) =>
  person(`user-${n}@acme.example`, {
    externalId: `e${n}`,
    attributes: {
      displayName: `User ${n}`,
      name: { givenName: 'User', familyName: String(n) },
      emails: [{ value: `user-${n}@acme.example`, type: 'work', primary: true }],
    },
  }),
)
/** Each person is in two. */
const groups = Array.from({ length: groupCount }, (_, n) => ({
  ...group(`Group ${n}`, { externalId: `g${n}` }),
  memberExternalIds: users.flatMap(({ externalId }, at) =>
    at % groupCount === n || (at + 1) % groupCount === n ? [externalId!] : [],
  ),
}))

async function pull(syncId: string) {
  const sum = { added: 0, updated: 0, assigned: 0 }
  for (let at = 0; at < users.length; at += pageSize) {
    const page = users.slice(at, at + pageSize)
    const { added, updated } = await lab.run((tx, tenant) => lab.directory.putUsers(tx, tenant, page, syncId, actor))
    sum.added += added
    sum.updated += updated
  }
  await lab.run((tx, tenant) => lab.directory.putGroups(tx, tenant, groups, syncId, actor))
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const page: Awaited<ReturnType<Directory['assignArchetypes']>> = await lab.run((tx, tenant) =>
      lab.directory.assignArchetypes(tx, tenant, actor, { after: from, limit: pageSize }),
    )
    sum.assigned += page.assigned
    after = page.next
  }
  return sum
}

test('5,000 people and their groups come in few statements', async () => {
  statements = 0
  expect(await pull('s1')).toEqual({ added: people, updated: 0, assigned: people })
  expect(statements).toBeLessThan(1_000)
  expect(await lab.run((tx) => lab.directory.counts(tx))).toEqual({ users: people, unmatched: 0, groups: groupCount })
})

test('a second pull changes nothing', async () => {
  expect(await pull('s2')).toEqual({ added: 0, updated: 0, assigned: 0 })
})

test('a change of 1,000 members is a few statements', async () => {
  const { items } = await lab.run((tx) => lab.directory.users(tx, { offset: 0, count: 1_000 }))
  const add = items.map(({ userId }) => userId)
  const { groupId } = await lab.addGroup('Empty')
  statements = 0
  const change = { members: { add, remove: [] } }
  await lab.run((tx, tenant) => lab.directory.changeGroup(tx, tenant, groupId, change, { actor }))
  expect(statements).toBeLessThan(30)
})

test('all but the met are deactivated in parts, with about one statement for each', async () => {
  await lab.run((tx, tenant) => lab.directory.putUsers(tx, tenant, users.slice(0, 10), 's3', actor))
  expect(await lab.run((tx) => lab.directory.countUnseen(tx, 's3'))).toEqual({ unseen: people - 10, active: people })
  const deactivate = () => lab.run((tx, tenant) => lab.directory.deactivateUnseen(tx, tenant, 's3', actor, pageSize))
  statements = 0
  while ((await deactivate()).deactivated > 0);
  expect(statements).toBeLessThan(1.2 * people)
  expect((await lab.run((tx) => lab.directory.countUnseen(tx, 's3'))).active).toBe(10)
})
