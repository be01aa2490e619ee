import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toBase64, toHex } from '../../provenance/bytes.ts'
import {
  logLeafHash,
  merkleRoot,
  parseCheckpoint,
  parseNote,
  rootFromInclusionPath,
  rootOfRange,
  sealNote,
  verifyConsistency,
  verifyNoteSync,
} from '../../provenance/index.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { readConsistency } from '../../server/modules/log/tree-reading.ts'
import { nodeCrypto } from '../../server/records/node-crypto.ts'
import { decision, telemetry } from '../hub/record-lab.ts'
import { type LogLab, openLogLab } from './log-lab.ts'

const { sha256 } = nodeCrypto

let lab: LogLab
beforeAll(async () => {
  lab = await openLogLab()
})
afterAll(() => lab.drop())

let tenants = 0
const newTenant = () => lab.openTenant(`t${++tenants}`)

/** Leaves as the stored seals have them. */
async function leavesBySeals(tenant: Tenant): Promise<Uint8Array[]> {
  const superuser = await lab.superuserClient()
  const { rows } = await superuser.query(
    `select s.*, (extract(epoch from s.sealed_at) * 1000000)::bigint::text as micros from hub.log_entries e
     join hub.seals s using (tenant_id, seal_id) where tenant_id = $1 order by e.log_index`,
    [tenant.slug],
  )
  return rows.map((row) => {
    const leaves = Array.from({ length: row.leaves.length / 32 }, (_, i) => row.leaves.subarray(32 * i, 32 * i + 32))
    const statement = {
      logName: tenant.logName,
      sealId: row.seal_id,
      leafCount: leaves.length,
      timeMicros: Number(row.micros),
      root: merkleRoot(leaves, sha256),
    }
    return logLeafHash(sealNote(statement, row.key_id, row.signature), sha256)
  })
}

const inTenant = <Result>(tenant: Tenant, work: Parameters<typeof lab.database.withTenant<Result>>[1]) =>
  lab.database.withTenant(tenant.slug, work)

describe('a log', () => {
  test('is signed while it is empty, and is the same when nothing came', async () => {
    const tenant = await newTenant()
    const head = await lab.logs.integrate(tenant)
    expect(head.treeSize).toBe(0)
    expect(toHex(head.root)).toBe(toHex(sha256(new Uint8Array(0))))
    expect(await lab.logs.integrate(tenant)).toEqual(head)
    expect(await inTenant(tenant, (tx) => lab.logs.head(tx))).toEqual(head)
  })

  test('has every seal as the leaf of its note, in a tree that all its proofs lead to', async () => {
    const tenant = await newTenant()
    await lab.load(tenant, 3000, telemetry)
    await lab.logs.integrate(tenant)
    for (let i = 0; i < 20; i++) await lab.write(tenant, decision(`d${i}`))
    const middle = await lab.logs.integrate(tenant)
    const ids = await lab.load(tenant, 64 * 700, telemetry)
    const head = await lab.logs.integrate(tenant)
    const leaves = await leavesBySeals(tenant)
    const size = leaves.length
    expect(middle.treeSize).toBe(3 * 16 + 20)
    expect(size).toBe(3 * 16 + 20 + Math.floor(ids.length / 1000) * 16 + Math.ceil((ids.length % 1000) / 64))
    expect(head.treeSize).toBe(size)
    expect(toHex(head.root)).toBe(toHex(merkleRoot(leaves, sha256)))

    const [publicKey] = await lab.keys.publicKeysOf(tenant.slug)
    expect(verifyNoteSync(parseNote(head.checkpoint), [publicKey!], nodeCrypto)).toBe(true)
    const { root, ...rest } = parseCheckpoint(head.checkpoint)
    expect(rest).toMatchObject({ logName: tenant.logName, treeSize: size })
    expect(toHex(root)).toBe(toHex(head.root))

    await inTenant(tenant, async (tx) => {
      expect((await lab.logs.leaves(tx, 0, size)).map(toBase64)).toEqual(leaves.map(toBase64))
      const entries = await lab.logs.entries(tx, 0, 10_000)
      expect(entries.map((entry) => entry.logIndex)).toEqual(leaves.map((_, i) => i))
      for (const index of [0, 1, 47, 48, 255, 256, 257, 511, size - 2, size - 1]) {
        const entry = await lab.logs.entryOf(tx, entries[index]!.sealId)
        expect(entry).toEqual(entries[index])
        for (const treeSize of [index + 1, 258, 512, 700, size].filter((some) => some > index && some <= size)) {
          const path = await lab.logs.inclusionPath(tx, index, treeSize)
          const root = rootFromInclusionPath(index, treeSize, leaves[index]!, path, sha256)
          expect(toHex(root)).toBe(toHex(merkleRoot(leaves.slice(0, treeSize), sha256)))
        }
      }
      for (const [from, to, treeSize] of [
        [0, 0, size],
        [0, size, size],
        [3, 300, size],
        [255, 257, 257],
        [256, 512, 600],
        [size, size, size],
      ] as const) {
        const { left, right } = await lab.logs.rangeProof(tx, from, to, treeSize)
        const root = rootOfRange(from, leaves.slice(from, to), left, right, treeSize, sha256)
        expect(toHex(root)).toBe(toHex(merkleRoot(leaves.slice(0, treeSize), sha256)))
      }
      for (const [first, second] of [
        [1, 1],
        [1, size],
        [middle.treeSize, size],
        [256, 257],
        [300, 512],
        [512, size],
      ] as const) {
        const { path, fromRoot, toRoot } = await readConsistency(tx, first, second)
        const sizes = { firstSize: first, secondSize: second }
        expect(verifyConsistency({ ...sizes, firstRoot: fromRoot, secondRoot: toRoot, path }, sha256)).toBe(true)
        expect(toHex(fromRoot)).toBe(toHex(merkleRoot(leaves.slice(0, first), sha256)))
        expect(toHex(toRoot)).toBe(toHex(merkleRoot(leaves.slice(0, second), sha256)))
      }
    })
  })
})
