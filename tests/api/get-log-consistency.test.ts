import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromBase64 } from '../../provenance/bytes.ts'
import { verifyConsistency } from '../../provenance/index.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { checkpointOf, get, hashes, logPath, noReader } from './log-cases.ts'
import { decision, expectGuarded, expectProblem, write } from './record-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const path = (parameters: string) => `${logPath}/consistency${parameters}`
const refused = async (parameters: string, ...pointers: string[]) =>
  expectProblem(await hub.call('acme', 'GET', path(parameters)), 'validation-failed', ...pointers)

// biome-ignore lint/suspicious/noExplicitAny: an answer
const holds = (proof: any, from: any, to: any) =>
  verifyConsistency(
    {
      firstSize: proof.from,
      secondSize: proof.to,
      firstRoot: fromBase64(from.root_hash),
      secondRoot: fromBase64(to.root_hash),
      path: hashes(proof.path),
    },
    nodeCrypto.sha256,
  )

test('each checkpoint continues every earlier one', async () => {
  const kept = []
  for (let i = 0; i < 9; i++) {
    await write(hub, 'acme', decision)
    kept.push(await checkpointOf(hub))
  }
  for (const from of kept) {
    for (const to of kept.filter((later) => later.tree_size >= from.tree_size)) {
      const proof = await get(hub, path(`?from=${from.tree_size}&to=${to.tree_size}`))
      expect(proof).toMatchObject({ from_root: from.root_hash, to_root: to.root_hash })
      expect(holds(proof, from, to)).toBe(true)
    }
  }
  const newest = kept.at(-1)!
  expect(await get(hub, path('?from=1'))).toMatchObject({ from: 1, to: newest.tree_size, to_root: newest.root_hash })
  const other = await checkpointOf(hub, 'globex')
  expect(holds(await get(hub, path('?from=1')), other, newest)).toBe(false)
})

test('the empty log begins every log, so there is no proof from it', async () => {
  const { tree_size: size } = await checkpointOf(hub)
  for (const parameters of ['?from=0', `?from=0&to=${size}`, '?from=0&to=0']) await refused(parameters, '/query/from')
})

test('sizes that the log has not reached, or not in that order', async () => {
  const { tree_size: size } = await checkpointOf(hub)
  await refused(`?from=${size + 1}`, '/query/from')
  await refused(`?from=1&to=${size + 1}`, '/query/to')
  await refused(`?from=${size}&to=${size - 1}`, '/query/from')
  await refused('?from=1&to=0', '/query/from')
  await refused('?from=-1', '/query/from')
  await refused('?from=1&to=-1', '/query/to')
  for (const from of ['1.5', '1.0', '01', '%2B1', '1e0']) await refused(`?from=${from}`, '/query/from')
  await refused('?from=1&to=01', '/query/to')
  await refused('?from=9007199254740992', '/query/from')
  await refused('', '/query/from')
  await refused('?from=1&until=2', '/query/until')
})

test('without token, tenant or scope', async () => {
  await expectGuarded(hub, 'GET', path('?from=1'), { lacking: noReader })
})
