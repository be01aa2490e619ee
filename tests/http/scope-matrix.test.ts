import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import type { RouteDescription } from '../../server/http/route.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const golden = join(import.meta.dirname, '../golden/endpoint-scopes.txt')

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

/** Whether the running service lets a token of these scopes in. An unknown parameter keeps the handler from running. */
async function admits({ operation }: RouteDescription, scopes: readonly Scope[]): Promise<boolean> {
  const path = operation.path.replaceAll(/\{[a-z_]+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')
  const { status, body } = await hub.call('acme', operation.method, `${path}?no-such-parameter=1`, { scopes, body: {} })
  const slug = String(body.type).split('/').at(-1)
  if (status === 403 && slug === 'insufficient-scope') return false
  expect([operation.path, status, slug]).toEqual([operation.path, 400, 'validation-failed'])
  return true
}

/** The smallest sets of scopes that open the operation: single ones, else pairs, else all of them together. */
async function waysIn(route: RouteDescription): Promise<string[]> {
  const singles: Scope[] = []
  for (const scope of scopeNames) if (await admits(route, [scope])) singles.push(scope)
  if (singles.length > 0) return singles
  const pairs: string[] = []
  for (const [index, first] of scopeNames.entries()) {
    for (const second of scopeNames.slice(index + 1)) {
      if (await admits(route, [first, second])) pairs.push(`${first} + ${second}`)
    }
  }
  if (pairs.length > 0) return pairs
  const allButOne = scopeNames.map((lacking) => scopeNames.filter((scope) => scope !== lacking))
  for (const scopes of allButOne) expect(await admits(route, scopes)).toBe(false)
  return (await admits(route, scopeNames)) ? ['all scopes together'] : []
}

test('which scopes open which operation is the golden table', async () => {
  const lines: string[] = []
  for (const [id, route] of [...hub.app.hubRoutes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { kind } = route.operation.access
    const words =
      kind === 'public' ? 'anyone' : kind === 'own' ? 'its own credential' : (await waysIn(route)).join(' | ')
    lines.push(`${id.padEnd(20)} ${route.operation.method.padEnd(6)} ${route.operation.path.padEnd(60)} ${words}`)
  }
  expect(lines.filter((line) => line.endsWith(' '))).toEqual([])
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(golden)
})
