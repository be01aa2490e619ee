import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../provenance/bytes.ts'
import { logLeafHash, merkleRoot, parseCheckpoint, parseNote, verifyNoteSync } from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { ProvenanceKeyRing } from '../../server/modules/keys/provenance-keys-service.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { decision, telemetry } from '../hub/record-lab.ts'
import { type LogLab, openLogLab } from './log-lab.ts'

const { sha256 } = nodeCrypto

let lab: LogLab
let superuser: Awaited<ReturnType<LogLab['superuserClient']>>
beforeAll(async () => {
  lab = await openLogLab({ poolSize: 16 })
  superuser = await lab.superuserClient()
})
afterAll(() => lab.drop())

let tenants = 0
const newTenant = () => lab.openTenant(`t${++tenants}`)
const inTenant = <Result>(tenant: Tenant, work: Parameters<typeof lab.database.withTenant<Result>>[1]) =>
  lab.database.withTenant(tenant.slug, work)

/** Indexes from 0 on without a gap, each stored seal once, and the head of the tree that they make. */
async function expectWhole(tenant: Tenant): Promise<number> {
  const head = await lab.logs.integrate(tenant)
  const { rows: seals } = await superuser.query('select seal_id from hub.seals where tenant_id = $1', [tenant.slug])
  await inTenant(tenant, async (tx) => {
    const entries = await lab.logs.entries(tx, 0, 1_000_000)
    expect(entries.map((entry) => entry.logIndex)).toEqual(entries.map((_, i) => i))
    expect(entries.map((entry) => entry.sealId).sort()).toEqual(seals.map((seal) => seal.seal_id).sort())
    expect(head.treeSize).toBe(entries.length)
    const leaves = await lab.logs.leaves(tx, 0, head.treeSize)
    expect(toHex(merkleRoot(leaves, sha256))).toBe(toHex(head.root))
  })
  return head.treeSize
}

describe('several processes', () => {
  test('at one log, while others write: every state continues the one before', async () => {
    const tenant = await newTenant()
    const processes = [lab.logs, lab.logsOfAnotherProcess(), lab.logsOfAnotherProcess()]
    lab.heads.length = 0
    let writing = true
    const integrating = processes.map(async (logs) => {
      while (writing) await logs.integrate(tenant)
    })
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 25; i++) await lab.write(tenant, decision(`d${i}`))
      }),
    )
    writing = false
    await Promise.all(integrating)
    expect(await expectWhole(tenant)).toBe(100)
    const heads = lab.heads.map(({ treeSize, root }) => `${treeSize} ${toHex(root)}`)
    expect(heads.length).toBeGreaterThan(1)
    const leaves = await inTenant(tenant, (tx) => lab.logs.leaves(tx, 0, 100))
    for (const { treeSize, root } of lab.heads) {
      expect(toHex(root)).toBe(toHex(merkleRoot(leaves.slice(0, treeSize), sha256)))
    }
    // No state was signed twice.
    expect(new Set(heads).size).toBe(heads.length)
  })

  test('many who ask at once share what is done for them, and each gets what was committed before', async () => {
    const tenant = await newTenant()
    await lab.logs.integrate(tenant)
    lab.heads.length = 0
    const sizes = await Promise.all(
      Array.from({ length: 50 }, async () => {
        await lab.write(tenant, decision('d'))
        const { rows } = await inTenant(tenant, (tx) =>
          tx.client.query('select count(*)::int as n from hub.seals where tenant_id = $1', [tenant.slug]),
        )
        const { treeSize } = await lab.logs.integrate(tenant)
        expect(treeSize).toBeGreaterThanOrEqual(rows[0].n)
        return treeSize
      }),
    )
    expect(Math.max(...sizes)).toBe(50)
    expect(lab.heads.length).toBeLessThan(50)
  })

  test('who waits for the lock of another goes on when that one ends', async () => {
    const tenant = await newTenant()
    await lab.write(tenant, decision('d'))
    const held = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = lab.database.withTenant(tenant.slug, async (tx) => {
      await tx.client.query(`select pg_advisory_xact_lock(${0x6f726774}, hashtext($1))`, [tenant.slug])
      held.resolve()
      await release.promise
    })
    await held.promise
    let done = false
    const waiting = lab.logs.integrate(tenant).then((head) => {
      done = true
      return head
    })
    // Another tenant is not kept waiting.
    expect((await lab.logs.integrate(await newTenant())).treeSize).toBe(0)
    expect(done).toBe(false)
    release.resolve()
    await holding
    expect((await waiting).treeSize).toBe(1)
  })
})

describe('arrivals', () => {
  test('from before the log have the leaves that their seals give', async () => {
    const tenant = await newTenant()
    await lab.load(tenant, 150, telemetry)
    await lab.write(tenant, decision('d'))
    const leavesOf = async (slug: string) => {
      const { rows } = await superuser.query(
        `select seal_ids, log_leaves from hub.seal_arrivals where tenant_id = $1 order by arrival_id`,
        [slug],
      )
      return Buffer.concat(rows.map((row) => row.log_leaves))
    }
    const leaves = await leavesOf(tenant.slug)
    await superuser.query('update hub.seal_arrivals set log_leaves = null where tenant_id = $1', [tenant.slug])
    const { treeSize } = await lab.logs.integrate(tenant)
    const stored = await inTenant(tenant, (tx) => lab.logs.leaves(tx, 0, treeSize))
    expect(toHex(Buffer.concat(stored))).toBe(toHex(leaves))
    await expectWhole(tenant)
  })

  test('whose seal is gone or unreadable have a leaf that no seal has, and hold up nothing', async () => {
    const tenant = await newTenant()
    for (const name of ['lost', 'cut', 'timeless', 'whole']) await lab.write(tenant, decision(name))
    const { rows } = await superuser.query('select seal_id from hub.seals where tenant_id = $1 order by seal_id', [
      tenant.slug,
    ])
    const [lost, cut, timeless] = rows.map((row) => row.seal_id)
    await superuser.query('update hub.seal_arrivals set log_leaves = null where tenant_id = $1', [tenant.slug])
    await superuser.query('delete from hub.seals where seal_id = $1', [lost])
    await superuser.query(`update hub.seals set leaves = '\\x00' where seal_id = $1`, [cut])
    await superuser.query(`update hub.seals set sealed_at = 'infinity' where seal_id = $1`, [timeless])
    expect((await lab.logs.integrate(tenant)).treeSize).toBe(4)
    const leaves = await inTenant(tenant, (tx) => lab.logs.leaves(tx, 0, 4))
    for (const [i, sealId] of [lost, cut, timeless].entries()) {
      const lostNote = `orghub/lost-seal/v1\nlog ${tenant.logName}\nseal ${sealId}\n`
      expect(toHex(leaves[i]!)).toBe(toHex(logLeafHash(lostNote, sha256)))
    }
  })

  test('of seals that have their place are dropped, and edited ones do no harm', async () => {
    const tenant = await newTenant()
    await lab.write(tenant, decision('a'))
    await superuser.query('create temp table kept as select * from hub.seal_arrivals where tenant_id = $1', [
      tenant.slug,
    ])
    await lab.logs.integrate(tenant)
    await superuser.query('insert into hub.seal_arrivals select * from kept')
    await lab.write(tenant, decision('b'))
    await superuser.query(
      `update hub.seal_arrivals set first_ids = '{}', last_ids = '{}', log_leaves = '\\x00', seal_ids = seal_ids || seal_ids
       where tenant_id = $1`,
      [tenant.slug],
    )
    expect(await expectWhole(tenant)).toBe(2)
    const waiting = await superuser.query('select from hub.seal_arrivals where tenant_id = $1', [tenant.slug])
    expect(waiting.rowCount).toBe(0)
  })

  test('of a backlog are taken in in several transactions', async () => {
    const tenant = await newTenant()
    const batches = Array.from({ length: 1100 }, (_, i) => decision(`d${i}`))
    for (let start = 0; start < batches.length; start += 50) {
      await Promise.all(batches.slice(start, start + 50).map((draft) => lab.write(tenant, draft)))
    }
    lab.heads.length = 0
    expect(await expectWhole(tenant)).toBe(1100)
    // Told once, of the last state.
    expect(lab.heads.map((head) => head.treeSize)).toEqual([1100])
  })

  test('that are rolled back are in no log', async () => {
    const tenant = await newTenant()
    const batch = await lab.records.sealer.seal(tenant, [{ ...decision('never'), createdBy: 'client-1' }])
    await expect(
      lab.database.withTenant(tenant.slug, async (tx) => {
        await lab.records.writer.insert(tx, batch)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect((await lab.logs.integrate(tenant)).treeSize).toBe(0)
  })
})

describe('nothing is signed that contradicts what was signed', () => {
  const damage: [string, string][] = [
    ['a leaf was edited', `update hub.log_tiles set hashes = overlay(hashes placing '\\xff' from 1) where level = 0`],
    ['a tile was cut', `update hub.log_tiles set hashes = substr(hashes, 1, 32) where level = 0`],
    ['a tile is gone', 'delete from hub.log_tiles where true'],
    ['the size of the head was edited', 'update hub.log_heads set tree_size = tree_size - 1 where true'],
    ['the root of the head was edited', `update hub.log_heads set root = sha256('x') where true`],
    ['the checkpoint is another text', `update hub.log_heads set checkpoint = 'nonsense' where true`],
    [
      'the checkpoint was edited',
      `update hub.log_heads set checkpoint = replace(checkpoint, E'\\ntime 1', E'\\ntime 2') where true`,
    ],
    ['the head is gone', 'delete from hub.log_heads where true'],
    [
      'an entry was added',
      `insert into hub.log_entries select tenant_id, tree_size, gen_random_uuid(), gen_random_uuid(), gen_random_uuid() from hub.log_heads where true`,
    ],
  ]

  test.each(damage)('%s', async (_, statement) => {
    const tenant = await newTenant()
    for (let i = 0; i < 3; i++) await lab.write(tenant, decision(`d${i}`))
    await lab.logs.integrate(tenant)
    await superuser.query(`${statement} and tenant_id = $1`, [tenant.slug])
    await lab.write(tenant, decision('new'))
    lab.heads.length = 0
    const refusal = { slug: 'internal', message: expect.stringMatching(/damaged.*hub log audit/) }
    await expect(lab.logs.integrate(tenant)).rejects.toMatchObject(refusal)
    expect(lab.heads).toEqual([])
  })

  test('the next key signs the state anew, though nothing came, in every process', async () => {
    const tenant = await newTenant()
    await lab.write(tenant, decision('d'))
    const before = await lab.logs.integrate(tenant)
    // With keys that know nothing of the rotation for some seconds.
    const another = lab.logsOfAnotherProcess(new ProvenanceKeyRing(lab))
    await another.integrate(tenant)
    const successor = await lab.keys.prepareSuccessor(tenant.slug)
    await inTenant(tenant, (tx) => lab.keys.succeed(tx, successor))
    const after = await lab.logs.integrate(tenant)
    expect(after).toMatchObject({ treeSize: 1 })
    expect(toHex(after.root)).toBe(toHex(before.root))
    expect(verifyNoteSync(parseNote(after.checkpoint), [successor.key], nodeCrypto)).toBe(true)
    expect(await lab.logs.integrate(tenant)).toEqual(after)
    // What the next key signed is no damage to a process that does not know it yet.
    await lab.write(tenant, decision('e'))
    expect((await another.integrate(tenant)).treeSize).toBe(2)
  })
})

test('a proof costs the same statements in a log of 100,000 seals', async () => {
  const texts: string[] = []
  const counted = await openLogLab({ onQuery: (text) => void texts.push(text) })
  try {
    const tenant = await counted.openTenant('acme')
    const count = async (index: number, size: number) => {
      texts.length = 0
      await counted.database.withTenant('acme', async (tx) => {
        await counted.logs.leaves(tx, index, index + 1)
        await counted.logs.inclusionPath(tx, index, size)
        await counted.logs.rangeProof(tx, index, index + 1, size)
      })
      return texts.length
    }
    await counted.write(tenant, decision('a'), decision('b'))
    await counted.write(tenant, decision('c'))
    const few = await count(0, (await counted.logs.integrate(tenant)).treeSize)
    const client = await counted.superuserClient()
    await client.query(
      `insert into hub.seal_arrivals
       select 'acme', gen_random_uuid(), array_agg(id), array_agg(id), array_agg(id), decode(string_agg(md5(id::text) || md5('x' || id::text), ''), 'hex')
       from (select n, gen_random_uuid() as id from generate_series(1, 100000) as n) as seals group by n / 50`,
    )
    const { treeSize } = await counted.logs.integrate(tenant)
    expect(treeSize).toBe(100_002)
    expect(await count(0, treeSize)).toBe(few)
    expect(await count(70_000, treeSize)).toBe(few)
    const { rows } = await client.query(
      'select max(octet_length(hashes)) as most, count(*)::int as tiles from hub.log_tiles',
    )
    expect(rows[0]).toEqual({ most: 8192, tiles: 391 + 2 + 1 })
    const checkpoint = (await counted.logs.integrate(tenant)).checkpoint
    const keys = await counted.keys.publicKeysOf('acme')
    expect(verifyNoteSync(parseNote(checkpoint), keys, nodeCrypto)).toBe(true)
    expect(parseCheckpoint(checkpoint).treeSize).toBe(treeSize)
  } finally {
    await counted.drop()
  }
})
