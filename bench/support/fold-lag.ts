import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { rollupLockClass } from '../../server/db/advisory-locks.ts'
import { clientConfig } from '../../server/db/connection-settings.ts'
import { timeOfRecordId } from '../../server/records/record-clock.ts'
import type { BenchHub } from './bench-hub.ts'

/** Waiting deltas at one moment. */
interface LagSample {
  second: number
  deltas: number
  /** Age of the oldest delta, 0 without any. */
  lagSeconds: number
}

const sampleMs = 250
const discardMs = 200

/** Samples the deltas of a tenant until `ended`. */
export async function watchLag(hub: BenchHub, tenantId: string, ended: () => boolean): Promise<LagSample[]> {
  const client = await connect(hub)
  const began = performance.now()
  const samples: LagSample[] = []
  try {
    while (!ended()) {
      const { deltas, oldest } = await waiting(client, tenantId)
      const atMs = oldest === null ? Date.now() : Date.parse(timeOfRecordId(oldest))
      samples.push({
        second: (performance.now() - began) / 1000,
        deltas,
        lagSeconds: Math.max(0, (Date.now() - atMs) / 1000),
      })
      await sleep(sampleMs)
    }
    return samples
  } finally {
    await client.end()
  }
}

/**
 * Runs work while the deltas of a tenant are deleted instead of folded: the rate of ingest without folding. The summary
 * of the tenant is wrong afterwards.
 */
export async function withoutFolding<T>(hub: BenchHub, tenantId: string, work: () => Promise<T>): Promise<T> {
  const client = await connect(hub)
  let ended = false
  try {
    await client.query('select pg_advisory_lock($1, hashtext($2))', [rollupLockClass, tenantId])
    const discarding = (async () => {
      while (!ended) {
        await asTenant(client, tenantId, 'delete from hub.telemetry_deltas where tenant_id = $1')
        await sleep(discardMs)
      }
    })()
    const result = await work().finally(() => {
      ended = true
    })
    await discarding
    await asTenant(client, tenantId, 'delete from hub.telemetry_deltas where tenant_id = $1')
    return result
  } finally {
    await client.end()
  }
}

/** Waits until no delta of the tenant is left. Returns the seconds. */
export async function untilFolded(hub: BenchHub, tenantId: string, secondsMax: number): Promise<number> {
  const began = performance.now()
  const client = await connect(hub)
  let left = 1
  try {
    while (left > 0 && performance.now() - began < secondsMax * 1000) {
      left = (await waiting(client, tenantId)).deltas
      if (left > 0) await sleep(sampleMs)
    }
    if (left > 0) throw new Error(`${left} deltas are left after ${secondsMax} s`)
    return (performance.now() - began) / 1000
  } finally {
    await client.end()
  }
}

async function connect(hub: BenchHub): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(hub.database.connection.owner, 'hub-bench'))
  await client.connect()
  return client
}

async function asTenant<Row extends pg.QueryResultRow>(client: pg.Client, tenantId: string, text: string) {
  await client.query('begin')
  await client.query('select hub.set_tenant($1)', [tenantId])
  const { rows } = await client.query<Row>(text, [tenantId])
  await client.query('commit')
  return rows
}

async function waiting(client: pg.Client, tenantId: string): Promise<{ deltas: number; oldest: string | null }> {
  const text = `select count(*)::int as deltas, min(delta_id::text) as oldest
    from hub.telemetry_deltas where tenant_id = $1`
  return (await asTenant<{ deltas: number; oldest: string | null }>(client, tenantId, text))[0]!
}
