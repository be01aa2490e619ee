import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { UserResponse } from '../../server/modules/roster/roster-types.ts'
import { type RosterLab, startRosterLab, usersPath } from './roster-lab.ts'

/** The last active administrator of a tenant stays one. */

let lab: RosterLab
let people = 0
let superuser: Awaited<ReturnType<RosterLab['hub']['superuserClient']>>
beforeAll(async () => {
  lab = await startRosterLab()
  superuser = await lab.hub.superuserClient()
})
afterAll(() => lab.close())
beforeEach(async () => {
  await superuser.query(`delete from hub.users where tenant_id = 'acme'`)
})

function admins(count: number): Promise<UserResponse[]> {
  return Promise.all(
    Array.from({ length: count }, () => {
      people += 1
      return lab.add('acme', `admin-${people}@acme.example`, 'admin')
    }),
  )
}
const active = async () => (await lab.call('acme', 'GET', `${usersPath}?role=admin&active=true`)).body.items

const refused = (pointer: string) => ({
  status: 409,
  body: {
    type: `${lab.url}/errors/concurrent-modification`,
    detail: expect.stringContaining('Make another user an administrator first'),
    errors: [{ pointer, detail: expect.stringContaining('the last active administrator') }],
  },
})

test('they are neither demoted nor deactivated, by themselves or by others, and nothing is recorded', async () => {
  const [last] = await admins(1)
  const id = last!.user_id
  await lab.add('acme', 'other@acme.example', 'auditor')
  await lab.add('globex', 'other@globex.example', 'admin')
  const left = (await admins(1))[0]
  await lab.act('acme', left!.user_id, 'deactivate')

  for (const token of [undefined, await lab.tokenOf('acme', last!)]) {
    expect(await lab.putRole('acme', id, 'auditor', token)).toMatchObject(refused('/role'))
    const path = `${usersPath}/${id}:deactivate`
    expect(await lab.call('acme', 'POST', path, token ? { token } : {})).toMatchObject(refused('/path/user_id'))
  }
  expect((await lab.putRole('acme', id, 'admin')).status).toBe(200)
  expect(await lab.get('acme', id)).toMatchObject(last!)
  expect(await lab.minEpoch('acme', id)).toBeUndefined()
  expect(await lab.eventsAbout('acme', id)).toHaveLength(1)
})

test('they may go once there is another', async () => {
  const [first, second] = await admins(2)
  expect((await lab.putRole('acme', first!.user_id, 'member')).status).toBe(200)
  expect((await lab.act('acme', second!.user_id, 'deactivate')).status).toBe(409)
  expect((await lab.putRole('acme', first!.user_id, 'admin')).status).toBe(200)
  expect((await lab.act('acme', second!.user_id, 'deactivate')).status).toBe(200)
})

test('a deactivated administrator may be demoted: they are not the last active one', async () => {
  const [first, second] = await admins(2)
  await lab.act('acme', first!.user_id, 'deactivate')
  expect((await lab.putRole('acme', first!.user_id, 'member')).status).toBe(200)
  expect(await active()).toEqual([second])
})

test('two who demote each other at once leave one', async () => {
  for (let i = 0; i < 10; i += 1) {
    await superuser.query(`delete from hub.users where tenant_id = 'acme'`)
    const [one, two] = await admins(2)
    const [tokenOfOne, tokenOfTwo] = [await lab.tokenOf('acme', one!), await lab.tokenOf('acme', two!)]
    const answers = await Promise.all([
      lab.putRole('acme', two!.user_id, 'member', tokenOfOne),
      lab.putRole('acme', one!.user_id, 'member', tokenOfTwo),
    ])
    const [done, refused] = answers.map(({ status }) => status).sort()
    // Who comes so late that their token has ended is refused as well.
    expect([done, [401, 409].includes(refused!)]).toEqual([200, true])
    expect(await active()).toHaveLength(1)
  }
})

test('many who demote and deactivate one another at once leave one', async () => {
  const all = await admins(8)
  const answers = await Promise.all(
    all.map(({ user_id }, i) =>
      i % 2 ? lab.act('acme', user_id, 'deactivate') : lab.putRole('acme', user_id, 'auditor'),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 409])
  expect(await active()).toHaveLength(1)
})
