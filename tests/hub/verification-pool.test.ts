import { once } from 'node:events'
import { BroadcastChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tenant } from '../../server/http/caller.ts'
import type { SealedBatch } from '../../server/modules/sealing/sealing-types.ts'
import type { VerificationTask } from '../../server/modules/verification/provenance-check.ts'
import { checkRecords } from '../../server/modules/verification/provenance-check.ts'
import { createVerificationPool } from '../../server/modules/verification/provenance-check-pool.ts'
import { callerOf, openRecordLab, type RecordLab, telemetry } from './record-lab.ts'

const crashing = new URL('./crashing-worker.ts', import.meta.url)
const waiting = new URL('./waiting-worker.ts', import.meta.url)

/** Records that no seal proves: what a pool does with tasks does not depend on what is in them. */
function taskOfSize(count: number, canonical = '{}'): VerificationTask {
  const each = <Value>(value: Value) => Array.from({ length: count }, () => value)
  return {
    records: {
      canonical: each(canonical),
      provenanceHash: each('00'.repeat(32)),
      salt: each('00'.repeat(16)),
      leafIndex: each(0),
      seal: each(-1),
      recordId: each('019a0000-0000-7000-8000-000000000001'),
      recordType: each('decision'),
      tenantId: each('acme'),
      createdBy: each('client-1'),
      skillId: each(null),
      archetypeId: each(null),
      userId: each(null),
      eventKind: each(null),
      costMicros: each(null),
      traceId: each(null),
      sessionId: each(null),
      links: each([]),
    },
    seals: { sealId: [], keyId: [], sealedAt: [], leaves: [], upperNodes: [], signature: [] },
    keys: [],
  }
}

describe('the pool', () => {
  test('gives what the check itself does, for small and for large tasks', async () => {
    const pool = createVerificationPool()
    for (const task of [taskOfSize(1), taskOfSize(500), taskOfSize(0)]) {
      expect(await pool.check(task)).toEqual(checkRecords(task))
    }
    await pool.close()
  })

  test('replaces a thread that died, and does its task again', async () => {
    const pool = createVerificationPool({ entry: crashing, threads: 1 })
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const task = { ...taskOfSize(500), crashes: flag } as VerificationTask
    expect(await pool.check(task)).toEqual(Uint8Array.of(1))
    expect(flag[0]).toBe(2)
    await pool.close()
  })

  test('fails a task that every thread dies of, and goes on', async () => {
    const pool = createVerificationPool({ entry: crashing, threads: 1 })
    const deadly = new Int32Array(new SharedArrayBuffer(4))
    deadly[0] = -100
    await expect(pool.check({ ...taskOfSize(500), crashes: deadly } as VerificationTask)).rejects.toThrow()
    const harmless = new Int32Array(new SharedArrayBuffer(4))
    harmless[0] = 1
    expect(await pool.check({ ...taskOfSize(500), crashes: harmless } as VerificationTask)).toEqual(Uint8Array.of(1))
    await pool.close()
  })

  test('refuses what it cannot keep, with the time to come again, and takes it afterwards', async () => {
    const pool = createVerificationPool({ pendingSize: 1000 })
    const large = taskOfSize(100, '0123456789')
    const first = pool.check(large)
    await expect(pool.check(large)).rejects.toMatchObject({ slug: 'hub-unavailable', retryAfterSeconds: 1 })
    expect(await first).toHaveLength(100)
    expect(await pool.check(large)).toHaveLength(100)
    await pool.close()
  })

  test('closes though it was never used', async () => {
    await createVerificationPool().close()
  })
})

describe('a page of 1,000 records of 1,000 seals', () => {
  const channel = new BroadcastChannel('waiting-worker')
  const begun = once(channel, 'message').then(([{ data }]) => data)
  let lab: RecordLab
  let acme: Tenant

  beforeAll(async () => {
    lab = await openRecordLab({ verificationEntry: waiting })
    acme = await lab.openTenant('acme')
    const batches: SealedBatch[] = []
    for (let at = 0; at < 1000; at++) {
      batches.push(await lab.records.sealer.seal(acme, [{ createdBy: 'client-1', ...telemetry(at) }]))
    }
    await lab.database.withTenant('acme', async (tx) => {
      for (const batch of batches) await lab.records.writer.insert(tx, batch)
    })
  })
  afterAll(async () => {
    channel.close()
    await lab.drop()
  })

  test('is verified while other requests are answered', async () => {
    const verified = lab.reading.query(callerOf(acme), { limit: 1000, verify: true })
    // No thread checks anything before the other page is answered.
    expect(await begun).toEqual({ begun: 1000 })
    const plain = await lab.reading.query(callerOf(acme), { limit: 1000 })
    expect(plain.records).toHaveLength(1000)
    channel.postMessage('go on')
    expect((await verified).verification_summary).toEqual({
      checked: 1000,
      verified: 1000,
      tampered: 0,
      cosign_invalid: 0,
    })
  })
})
