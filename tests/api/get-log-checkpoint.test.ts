import { afterAll, beforeAll, expect, test } from 'vitest'
import { toBase64 } from '../../provenance/bytes.ts'
import { parseCheckpoint } from '../../provenance/index.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { checkpointOf, get, isSigned, logPath, noReader } from './log-cases.ts'
import { decision, expectGuarded, write } from './record-cases.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

test('it is signed by the published key of the log, and says what the answer says', async () => {
  const answer = await checkpointOf(hub)
  const { logName } = await hub.tenant('acme')
  const { root, ...said } = parseCheckpoint(answer.checkpoint)
  expect(said).toMatchObject({ logName, treeSize: answer.tree_size })
  expect(answer).toMatchObject({ log_name: logName, root_hash: toBase64(root) })
  expect(Date.parse(answer.signed_at)).toBe(Math.floor(said.timeMicros! / 1000))
  expect(await isSigned(hub, answer.checkpoint, logName)).toBe(true)
})

test('what was written before the call is in it, and nothing changes when nothing comes', async () => {
  const before = await checkpointOf(hub)
  await write(hub, 'acme', decision)
  const after = await checkpointOf(hub)
  expect(after.tree_size).toBe(before.tree_size + 1)
  expect(after.root_hash).not.toBe(before.root_hash)
  expect(await checkpointOf(hub)).toEqual(after)
})

test('many ask at once while others write: each gets a state with all that it had written', async () => {
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { tree_size: before } = await checkpointOf(hub)
      await write(hub, 'acme', decision)
      expect((await checkpointOf(hub)).tree_size).toBeGreaterThan(before)
    }),
  )
})

test('each tenant has a log of its own, which tells nothing of the other', async () => {
  const before = await checkpointOf(hub, 'globex')
  await write(hub, 'acme', decision)
  expect(await checkpointOf(hub, 'globex')).toEqual(before)
  expect(before.log_name).not.toBe((await checkpointOf(hub)).log_name)
})

test('any reader may have it', async () => {
  for (const scope of ['hub:read', 'telemetry:read', 'governance:read'] as const) {
    await get(hub, `${logPath}/checkpoint`, { scopes: [scope] })
  }
  await expectGuarded(hub, 'GET', `${logPath}/checkpoint`, { lacking: noReader })
})
