import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import { openCheckpointSource } from '../../server/modules/log/audit/checkpoint-source.ts'
import { createLogAudit } from '../../server/modules/log/audit/log-audit.ts'
import { checkpointLine } from '../../server/modules/log/checkpoint-sinks/checkpoint-lines.ts'
import type { LogHead } from '../../server/modules/log/log-types.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { openNoteMaker } from './checkpoint-notes.ts'

/** Enough for a whole tile, so that there are two levels. */
const recordsCount = 270
const tables = [
  'records',
  'seals',
  'seal_arrivals',
  'log_entries',
  'log_tiles',
  'log_heads',
  'tombstones',
  'published_keys',
]

let hub: TestHub
let superuser: pg.Client
let directory: string
let tenant: Tenant
let audit: (files?: string[]) => ReturnType<ReturnType<typeof createLogAudit>['audit']>
/** States of the log as it grew. */
const heads: LogHead[] = []
/** In the order in which they were written. */
const ids: string[] = []

beforeAll(async () => {
  hub = await startHub()
  superuser = await hub.superuserClient()
  directory = await mkdtemp(join(tmpdir(), 'hub-audit-'))
  tenant = await hub.tenant('acme')
  const { logs } = hub.modules.log
  const { audit: auditLog } = createLogAudit({ database: hub.test.database, logs, keys: hub.modules.keys.provenance })
  audit = async (files = []) => auditLog(tenant, await Promise.all(files.map(openCheckpointSource)))
  for (let at = 0; at < recordsCount; at += 1) {
    const body = { record_type: 'artifact', title: `artifact ${at}` }
    const answer = await hub.call('acme', 'POST', '/api/v1/hub/records', { body })
    ids.push(answer.body.record_id)
    if (at % 40 === 0 || at > 255) heads.push(await logs.integrate(tenant))
  }
  heads.push(await logs.integrate(tenant))
  for (const table of tables) await superuser.query(`create table public.kept_${table} as table hub.${table}`)
})

afterEach(async () => {
  for (const table of tables) {
    await superuser.query(`delete from hub.${table}`)
    await superuser.query(`insert into hub.${table} select * from public.kept_${table}`)
  }
})

afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

const sizeOf = () => heads.at(-1)!.treeSize
const sealOf = async (recordId: string): Promise<string> =>
  (await superuser.query('select seal_id from hub.records where record_id = $1', [recordId])).rows[0].seal_id

async function fileWith(name: string, content: string): Promise<string> {
  const file = join(directory, name)
  await writeFile(file, content)
  return file
}

const lineOf = (head: LogHead, logName = tenant.logName) =>
  checkpointLine({
    kept_at: '2026-01-01T00:00:00.000000Z',
    log_name: logName,
    tree_size: head.treeSize,
    checkpoint: head.checkpoint,
  })

test('a log that nobody has touched is good, and all of it was counted', async () => {
  const { rows } = await superuser.query(`select count(*)::int as count from hub.records where tenant_id = 'acme'`)
  expect(await audit()).toEqual({
    tenant: 'acme',
    log_name: tenant.logName,
    verified: true,
    tree_size: sizeOf(),
    root_hash: Buffer.from(heads.at(-1)!.root).toString('base64'),
    signed_at: expect.stringMatching(/Z$/),
    seals: sizeOf(),
    records: rows[0].count,
    erased: 0,
    checkpoints: 0,
    failed: 0,
    failures: [],
  })
  expect(sizeOf()).toBeGreaterThan(256)
})

const record = `record_id = $1`
const damages: [string, string, RegExp][] = [
  [
    'a text',
    `update hub.records set canonical = replace(canonical, 'artifact 7', 'artifact 8') where ${record}`,
    /not the sealed record/,
  ],
  [
    'a text and its hash',
    `update hub.records set canonical = canonical || ' ', provenance_hash = sha256(('orghub/record/v1' || '')::bytea || '\\x00'::bytea || convert_to(canonical || ' ', 'UTF8')) where ${record}`,
    /not the sealed record/,
  ],
  [
    'a hash',
    `update hub.records set provenance_hash = sha256('x') where ${record}`,
    /stored hash is not that of its text/,
  ],
  ['a salt', `update hub.records set salt = '\\x00' where ${record}`, /salt was changed/],
  ['a place in the seal', `update hub.records set leaf_index = 3 where ${record}`, /has no leaf 3/],
  ['a record that is deleted', `delete from hub.records where ${record}`, /record of its leaf 0 is missing/],
  ['a seal that is deleted', `delete from hub.seals where seal_id = $2`, /is entry \d+ of the log, and is missing/],
  [
    'a seal and its record',
    `with r as (delete from hub.records where ${record}) delete from hub.seals where seal_id = $2`,
    /is missing/,
  ],
  [
    'a signature',
    `update hub.seals set signature = set_byte(signature, 0, 255 - get_byte(signature, 0)) where seal_id = $2`,
    /signature does not verify/,
  ],
  [
    'the time of a seal',
    `update hub.seals set sealed_at = sealed_at + interval '1 second' where seal_id = $2`,
    /signature does not verify/,
  ],
  [
    'an impossible time of a seal',
    `update hub.seals set sealed_at = 'infinity' where seal_id = $2`,
    /time cannot be read/,
  ],
  ['the leaves of a seal', `update hub.seals set leaves = sha256('x') where seal_id = $2`, /signature does not verify/],
  ['no leaves in a seal', `update hub.seals set leaves = '' where seal_id = $2`, /a seal has 1 to 64 leaves/],
  [
    'the key of a seal',
    `update hub.seals set key_id = repeat('ab', 16) where seal_id = $2`,
    /no trusted key of the log has the id abab/,
  ],
  ['an entry that is deleted', `delete from hub.log_entries where seal_id = $2`, /^entry:\d+: it is missing/],
  [
    'two seals that changed places',
    `update hub.log_entries e set log_index = case e.log_index when 0 then 1 else 0 end + 100000 where log_index < 2 and tenant_id = 'acme'; update hub.log_entries set log_index = log_index - 100000 where log_index >= 100000`,
    /^seal:.*it is not the seal that entry 0 of the log had/,
  ],
  [
    'an entry at the end',
    `insert into hub.log_entries select tenant_id, log_index + 500, gen_random_uuid(), first_id, last_id from hub.log_entries where tenant_id = 'acme' and log_index = 0`,
    /entries, but its tree has/,
  ],
  [
    'a size of the tree that nobody could go through',
    `update hub.log_heads set tree_size = 9223372036854775807 where tenant_id = 'acme'`,
    /its checkpoint says another name, size or root/,
  ],
  [
    'a leaf of the tree',
    `update hub.log_tiles set hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) where level = 0 and tile_index = 0 and tenant_id = 'acme'`,
    /not the seal that entry 1 of the log had/,
  ],
  [
    'a tile that is deleted',
    `delete from hub.log_tiles where level = 0 and tile_index = 0 and tenant_id = 'acme'`,
    /^tile:0\/0: it is missing/,
  ],
  [
    'a tile that was cut',
    `update hub.log_tiles set hashes = substr(hashes, 1, 32) where level = 0 and tile_index = 0 and tenant_id = 'acme'`,
    /^tile:0\/0: it does not have all of its 256 hashes/,
  ],
  [
    'an upper tile',
    `update hub.log_tiles set hashes = sha256('x') where level = 1 and tenant_id = 'acme'`,
    /^tile:1\/0: its hashes do not follow/,
  ],
  [
    'a tile too many',
    `insert into hub.log_tiles select tenant_id, 2, 0, hashes from hub.log_tiles where level = 1 and tenant_id = 'acme'`,
    /^tile:2\/0: the tree has 0 hashes at this level/,
  ],
  [
    'the root of the head',
    `update hub.log_heads set root = sha256('x') where tenant_id = 'acme'`,
    /^head: its root is not that of the tree/,
  ],
  [
    'the signature of the head',
    `update hub.log_heads set checkpoint = replace(checkpoint, E'\\ntime 1', E'\\ntime 2') where tenant_id = 'acme'`,
    /^head: no trusted key of the log signed/,
  ],
  [
    'a head that is no note',
    `update hub.log_heads set checkpoint = 'x' where tenant_id = 'acme'`,
    /^head: its checkpoint cannot be read/,
  ],
  ['keys that are gone', `delete from hub.published_keys`, /^key:.*it is not among the published keys/],
  [
    'a key that was exchanged',
    `update hub.published_keys set public_key = sha256('x')`,
    /^key:.*its published public key was replaced/,
  ],
  [
    'a tombstone without its event',
    `with r as (delete from hub.records where ${record}) insert into hub.tombstones select tenant_id, record_id, record_type, seal_id, leaf_index, now(), 'x', 'x', null, gen_random_uuid(), now() from hub.records where ${record}`,
    /the event .* of its erasure is missing/,
  ],
  [
    'a tombstone with another event',
    `with r as (delete from hub.records where ${record}) insert into hub.tombstones select tenant_id, record_id, record_type, seal_id, leaf_index, now(), 'x', 'x', null, (select record_id from hub.records where record_type = 'governance_event' and tenant_id = 'acme' limit 1), now() from hub.records where ${record}`,
    /the event .* does not record its erasure/,
  ],
]

describe('what a database administrator does', () => {
  test.each(damages)('%s', async (_, sql, reason) => {
    const id = ids[7]!
    const sealId = await sealOf(id)
    const literal = (text: string) => `'${text}'`
    await superuser.query(sql.replaceAll('$1', literal(id)).replaceAll('$2', literal(sealId)))
    const result = await audit()
    expect(result.verified).toBe(false)
    expect(result.failed).toBeGreaterThan(0)
    expect(result.failures.map(({ at, reason: why }) => `${at}: ${why}`)).toContainEqual(expect.stringMatching(reason))
  })

  test('a forged record beside the log, with a seal of its own or under one that is there', async () => {
    for (const seal of ['gen_random_uuid()', 'seal_id']) {
      await superuser.query(
        `insert into hub.records (tenant_id, record_id, record_type, created_by, seal_id, leaf_index, salt, provenance_hash, canonical)
         select tenant_id, overlay(record_id::text placing 'ffff' from 33)::uuid, record_type, created_by, ${seal}, leaf_index, salt, provenance_hash, canonical
         from hub.records where record_id = $1`,
        [ids[9]],
      )
      const result = await audit()
      expect(result.failures).toContainEqual({
        at: expect.stringMatching(/^record:.*ffff$/),
        reason: 'no entry of the log has it: it was inserted',
      })
      await superuser.query(`delete from hub.records where record_id::text like '%ffff'`)
    }
  })

  test('two records that were swapped between tenants', async () => {
    const other = await hub.call('globex', 'POST', '/api/v1/hub/records', {
      body: { record_type: 'artifact', title: 'theirs' },
    })
    await superuser.query(
      `update hub.records set tenant_id = case tenant_id when 'acme' then 'globex' else 'acme' end where record_id in ($1, $2)`,
      [ids[11], other.body.record_id],
    )
    const { failures } = await audit()
    expect(failures.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('is missing'),
      expect.stringContaining('it was inserted'),
    ])
  })

  test('a key of their own, with which they sign everything again', async () => {
    const maker = openNoteMaker(tenant.logName)
    await superuser.query(
      `insert into hub.published_keys (key_id, name, public_key, created_at) values ($1, $2, $3, now() + interval '1 day')`,
      [maker.keyId, tenant.logName, maker.publicKey],
    )
    await superuser.query(`update hub.log_heads set checkpoint = $1 where tenant_id = 'acme'`, [
      maker.head(sizeOf(), heads.at(-1)!.root).checkpoint,
    ])
    const { failures } = await audit()
    expect(failures).toContainEqual({
      at: `key:${maker.keyId}`,
      reason: 'it was inserted among the published keys: the service did not create it',
    })
    expect(failures).toContainEqual({ at: 'head', reason: 'no trusted key of the log signed its checkpoint' })
  })

  test('so much damage that not all of it is listed is counted all the same', async () => {
    await superuser.query(`update hub.records set canonical = '{}' where tenant_id = 'acme'`)
    const { failed, failures } = await audit()
    expect(failed).toBeGreaterThanOrEqual(recordsCount)
    expect(failures).toHaveLength(100)
  })
})

describe('against checkpoints that were kept', () => {
  test('in any order, each is compared', async () => {
    const file = await fileWith('all.jsonl', [...heads, heads[2]!, heads[1]!].map((head) => lineOf(head)).join(''))
    expect(await audit([file])).toMatchObject({ verified: true, failed: 0, checkpoints: heads.length + 2 })
  })

  test('a signed note, and a saved answer of the API', async () => {
    const note = await fileWith('note.txt', heads[3]!.checkpoint)
    const { treeSize: tree_size, checkpoint } = heads[4]!
    const answer = await fileWith(
      'answer.json',
      JSON.stringify({ checkpoint, log_name: tenant.logName, tree_size }, null, 2),
    )
    expect(await audit([note, answer])).toMatchObject({ verified: true, checkpoints: 2 })
  })

  test('a database that was set back, though it is sound in itself', async () => {
    const file = await fileWith('later.jsonl', heads.map((head) => lineOf(head)).join(''))
    const past = heads[1]!
    await superuser.query(`delete from hub.log_entries where tenant_id = 'acme' and log_index >= $1`, [past.treeSize])
    await superuser.query(`delete from hub.log_tiles where tenant_id = 'acme' and (level > 0 or tile_index > 0)`)
    await superuser.query(
      `update hub.log_tiles set hashes = substr(hashes, 1, 32 * $1::int) where tenant_id = 'acme'`,
      [past.treeSize],
    )
    await superuser.query(
      `update hub.log_heads set tree_size = $1, root = $2, checkpoint = $3 where tenant_id = 'acme'`,
      [past.treeSize, past.root, past.checkpoint],
    )
    await superuser.query(
      `delete from hub.records r where tenant_id = 'acme' and not exists (select from hub.log_entries e where e.seal_id = r.seal_id)`,
    )
    expect(await audit()).toMatchObject({ verified: true, tree_size: past.treeSize })
    const { verified, failures } = await audit([file])
    expect(verified).toBe(false)
    expect(failures[0]).toEqual({
      at: `${file}:3`,
      reason: `the log had ${heads[2]!.treeSize} entries then, but has ${past.treeSize} now: it was restored to an earlier state`,
    })
    expect(failures).toHaveLength(heads.length - 2)
  })

  test('a history that was written anew behind a checkpoint', async () => {
    await superuser.query(
      `update hub.log_tiles set hashes = overlay(hashes placing sha256('x') from 33) where level = 0 and tile_index = 0 and tenant_id = 'acme'`,
    )
    const file = await fileWith('then.jsonl', lineOf(heads[2]!))
    const { failures } = await audit([file])
    expect(failures).toContainEqual({ at: `${file}:1`, reason: expect.stringContaining('it was rewritten') })
  })

  test('a checkpoint that no key of the log signed', async () => {
    const file = await fileWith('forged.jsonl', lineOf(openNoteMaker(tenant.logName).head(3)))
    const { failures } = await audit([file])
    expect(failures).toEqual([{ at: `${file}:1`, reason: 'no trusted key of the log signed this checkpoint' }])
  })

  test('lines that a crash has cut off are passed over, and a file without a checkpoint is told', async () => {
    const file = await fileWith('torn.jsonl', `${lineOf(heads[0]!)}{"kept_at":"20\n\n${lineOf(heads[1]!)}{"kept`)
    expect(await audit([file])).toMatchObject({ verified: true, checkpoints: 2 })
    await expect(audit([await fileWith('empty.jsonl', '')])).rejects.toThrow('contains no checkpoint')
    await expect(audit([join(directory, 'nowhere')])).rejects.toThrow('cannot be read')
  })
})
