import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scaled } from '../support/machine-speed.ts'
import { type OperatorLab, ofTenant, startOperatorLab } from '../tenants/operator-lab.ts'
import { connectScim, errorSchema, type ScimClient } from './scim-client.ts'

let lab: OperatorLab
let scim: ScimClient
beforeAll(async () => {
  lab = await startOperatorLab()
  scim = await connectScim(lab.hub, 'acme')
})
afterAll(() => lab.hub.stop())

test('the directory of a suspended tenant is refused within five seconds, as one without SCIM is, and let in again', async () => {
  const { id } = await scim.user('kim')
  const suspend = async (suspended: boolean) =>
    expect((await lab.call('PATCH', ofTenant('acme'), { suspended })).status).toBe(200)
  const until = async (status: number) => {
    for (const end = performance.now() + scaled(30_000); ; await pause(50)) {
      const answer = await scim.get(`/Users/${id}`)
      if (answer.status === status) return answer
      if (performance.now() > end) throw new Error(`not ${status} within five seconds: ${answer.text}`)
    }
  }
  await suspend(true)
  const refused = await until(401)
  expect(refused.body).toEqual({ schemas: [errorSchema], status: '401', detail: expect.any(String) })
  const unknown = await lab.hub.call('acme', 'GET', '/scim/v2/nobody/Users', { token: scim.token })
  expect([unknown.status, unknown.body.detail]).toEqual([401, refused.body.detail])
  for (const answer of [
    await scim.post('/Users', { userName: 'lee' }),
    await scim.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value: false }]),
    await scim.call('DELETE', `/Users/${id}`),
  ]) {
    expect([answer.status, answer.body.schemas]).toEqual([401, [errorSchema]])
  }
  await suspend(false)
  expect((await until(200)).body).toMatchObject({ id, active: true })
})
