import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mayCall } from '../../contract/permissions.ts'
import { type Role, roleNames, roles } from '../../contract/roles.ts'
import type { RouteDescription } from '../../server/http/route.ts'
import { tokenOfPerson } from '../roster/roster-lab.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const golden = join(import.meta.dirname, '../golden/endpoint-roles.txt')

let hub: TestHub
const tokens = new Map<Role, string>()
beforeAll(async () => {
  hub = await startHub()
  const tenant = await hub.tenant('acme')
  const { signInUsers } = hub.modules.roster
  for (const role of roleNames) {
    const { userId } = await hub.test.database.withTenant('acme', (tx) =>
      signInUsers.ensure(tx, tenant, `${role}@acme.example`, role),
    )
    tokens.set(role, await tokenOfPerson(hub, 'acme', userId))
  }
})
afterAll(() => hub.stop())

/** Whether the running service lets a person of this role in. An unknown parameter keeps the handler from running. */
async function admits({ operation }: RouteDescription, role: Role): Promise<boolean> {
  const path = operation.path.replaceAll(/\{[a-z_]+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')
  const url = `${path}?no-such-parameter=1`
  const { status, body } = await hub.call('acme', operation.method, url, { token: tokens.get(role)!, body: {} })
  const slug = String(body.type).split('/').at(-1)
  if (status === 403 && slug === 'insufficient-scope') return false
  expect([operation.path, status, slug]).toEqual([operation.path, 400, 'validation-failed'])
  return true
}

test('which role opens which operation is the golden table, and what a UI would be told', async () => {
  const lines: string[] = []
  for (const [id, route] of [...hub.app.hubRoutes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { access, method, path } = route.operation
    let words = access.kind === 'public' ? 'anyone' : 'its own credential'
    if (access.kind === 'token') {
      const columns: string[] = []
      for (const role of roleNames) {
        const admitted = await admits(route, role)
        expect([id, role, admitted]).toEqual([id, role, mayCall(roles[role], id)])
        columns.push((admitted ? role : '-').padEnd(role.length))
      }
      words = columns.join(' ').trimEnd()
    } else {
      expect(mayCall([], id)).toBe(true)
    }
    lines.push(`${id.padEnd(26)} ${method.padEnd(6)} ${path.padEnd(60)} ${words}`)
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(golden)
})
