import { randomBytes } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { checkpointLine } from '../../server/modules/log/checkpoint-sinks/checkpoint-lines.ts'
import type { StoredCheckpoint } from '../../server/modules/log/checkpoint-sinks/checkpoint-types.ts'
import { createConsistencyCheck } from '../../server/modules/log/checkpoint-sinks/consistency-check.ts'
import {
  checkpointsOfAnotherProcess,
  decisionDraft,
  keepCheckpoints,
  tenantTables,
  writeSealed,
} from '../hub/attack-scenes.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
let superuser: pg.Client
let acme: Tenant
/** As many entries as the log had then. */
const kept = new Map<number, StoredCheckpoint>()

beforeAll(async () => {
  hub = await startHub()
  superuser = await hub.superuserClient()
  acme = await hub.tenant('acme')
})
afterAll(() => hub.stop())

async function grow(entries: number): Promise<StoredCheckpoint> {
  for (let at = 0; at < entries; at += 1) await writeSealed(hub, acme, decisionDraft(randomBytes(4).toString('hex')))
  const { treeSize, checkpoint } = await hub.modules.log.logs.integrate(acme)
  return { kept_at: '2026-01-01T00:00:00.000000Z', log_name: acme.logName, tree_size: treeSize, checkpoint }
}

const continues = (earlier: StoredCheckpoint, later: StoredCheckpoint) =>
  createConsistencyCheck({ database: hub.test.database, logs: hub.modules.log.logs })(acme, earlier, later)

const findings = async () =>
  (
    await superuser.query(
      `select canonical::jsonb->'details' as details, canonical::jsonb->>'subject' as subject from hub.records
       where tenant_id = 'acme' and event_kind = 'hub.tamper_detected'`,
    )
  ).rows

test('each state of a log begins with every one before it', async () => {
  for (const more of [1, 2, 5, 250, 9]) {
    const state = await grow(more)
    kept.set(state.tree_size, state)
  }
  const states = [...kept.values()]
  for (const [at, earlier] of states.entries()) {
    for (const later of states.slice(at)) expect(await continues(earlier, later)).toBe(true)
  }
})

test('a tree that was edited proves nothing', async () => {
  const [first, last] = [...kept.values()].slice(-2) as [StoredCheckpoint, StoredCheckpoint]
  await superuser.query(
    `update hub.log_tiles set hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) where tenant_id = 'acme' and level = 1`,
  )
  expect(await continues(first, last)).toBe(false)
  await superuser.query(
    `update hub.log_tiles set hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) where tenant_id = 'acme' and level = 1`,
  )
  expect(await continues(first, last)).toBe(true)
})

test('a log that was set back and has outgrown what was kept is refused, and reported', async () => {
  await superuser.query('create schema yesterday')
  for (const table of await tenantTables(superuser)) {
    await superuser.query(`create table yesterday.${table.slice(4)} as select * from ${table} where tenant_id = 'acme'`)
  }
  await grow(3)
  await keepCheckpoints(hub, [{ tenant: acme }])
  const file = hub.modules.checkpoints.filesOf(acme.logName)[0]!
  const before = await hub.modules.checkpoints.newest(acme.logName)
  for (const table of await tenantTables(superuser)) {
    await superuser.query(`delete from ${table} where tenant_id = 'acme'`)
    await superuser.query(`insert into ${table} select * from yesterday.${table.slice(4)}`)
  }
  const grown = await grow(10)
  expect(grown.tree_size).toBeGreaterThan(before!.treeSize)

  const another = checkpointsOfAnotherProcess(hub, ['acme'])
  another.keeper.start()
  await expect.poll(findings).toMatchObject([
    {
      subject: `log:${acme.logName}`,
      details: {
        failed_checks: ['log_continues_kept_checkpoint'],
        found: { tree_size: grown.tree_size, kept_tree_size: before!.treeSize },
      },
    },
  ])
  await another.keeper.stop()
  expect(await another.newest(acme.logName)).toEqual(before)

  // As it would be, had the new history been kept before anybody looked.
  await appendFile(file, checkpointLine(grown))
  expect((await another.newest(acme.logName))?.treeSize).toBe(grown.tree_size)
  expect(await hub.modules.hub.sweeper.sweep(acme)).toMatchObject({ failed: 0, inconsistent: 1 })
})
