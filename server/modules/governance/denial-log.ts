import { setImmediate as turn } from 'node:timers/promises'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Database, DatabaseLog } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { GovernanceLog, Refusal, RefusalLog } from './governance-types.ts'

const repeatMs = 60_000
const actor = { service: 'access-control' } as const

/** A refusal and the number of its repetitions since its last event. */
interface Entry {
  tenant: Tenant
  refusal: Refusal
  repeats: number
  firstAtMs: number
  lastAtMs: number
  lastRequestId: string
  timer: NodeJS.Timeout
}

export function createDenialLog(deps: {
  database: Database
  governance: GovernanceLog
  log: DatabaseLog
  /**
   * Maximum number of distinct refusals tracked at one time. Further ones are counted as `others`, one entry per tenant
   * and kind. A stranger with many addresses causes many refusals and must fill neither memory nor the log.
   */
  keysMax?: { perTenant: number; all: number }
}): RefusalLog {
  const { database, governance, log, keysMax = { perTenant: 100, all: 10_000 } } = deps
  const entries = new Map<string, Entry>()
  const keysOfTenants = new Map<string, number>()
  /** Refusals whose tenant lookup is pending. */
  const arriving = new Set<Promise<void>>()
  // One at a time, so that refusals use at most one connection.
  let written: Promise<void> = Promise.resolve()

  function open(key: string, tenant: Tenant, refusal: Refusal): Entry {
    const timer = setTimeout(() => end(key), repeatMs).unref()
    const entry = { tenant, refusal, repeats: 0, firstAtMs: 0, lastAtMs: 0, lastRequestId: '', timer }
    entries.set(key, entry)
    keysOfTenants.set(tenant.slug, (keysOfTenants.get(tenant.slug) ?? 0) + 1)
    return entry
  }

  function repeat(entry: Entry, { requestId }: Refusal): void {
    const nowMs = Date.now()
    if (entry.repeats === 0) entry.firstAtMs = nowMs
    Object.assign(entry, { repeats: entry.repeats + 1, lastAtMs: nowMs, lastRequestId: requestId })
  }

  /** Writes the repetitions and starts another minute; removes an entry without repetitions. */
  function end(key: string): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    if (entry.repeats > 0) {
      write(entry.tenant, entry.refusal, repetitionsOf(entry))
      entry.repeats = 0
      entry.timer.refresh()
      return
    }
    clearTimeout(entry.timer)
    entries.delete(key)
    const left = (keysOfTenants.get(entry.tenant.slug) ?? 1) - 1
    if (left > 0) keysOfTenants.set(entry.tenant.slug, left)
    else keysOfTenants.delete(entry.tenant.slug)
  }

  function write(tenant: Tenant, refusal: Refusal, details: Record<string, JsonValue>): void {
    const { kind, subject, reason } = refusal
    const event = { kind, subject, details: { reason, ...refusal.details, ...details }, actor }
    written = written
      // Sends the response first.
      .then(() => turn())
      .then(() => database.withTenant(tenant.slug, (tx) => governance.append(tx, tenant, event)))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error, tenant: tenant.slug, kind }, 'a refusal could not be written'),
      )
  }

  function add(tenant: Tenant, refusal: Refusal): void {
    const key = keyOf(tenant, refusal)
    const known = entries.get(key)
    const isFull = entries.size >= keysMax.all || (keysOfTenants.get(tenant.slug) ?? 0) >= keysMax.perTenant
    if (known) {
      repeat(known, refusal)
    } else if (isFull) {
      const { kind, requestId } = refusal
      const others = { kind, requestId, subject: `tenant:${tenant.slug}`, reason: 'others', address: '' }
      const othersKey = keyOf(tenant, others)
      repeat(entries.get(othersKey) ?? open(othersKey, tenant, others), refusal)
    } else {
      open(key, tenant, refusal)
      write(tenant, refusal, { ...addressOf(refusal), request_id: refusal.requestId })
    }
  }

  async function addOnceKnown(tenant: Promise<Tenant | undefined>, refusal: Refusal): Promise<void> {
    try {
      const found = await tenant
      if (found) add(found, refusal)
    } catch (error) {
      log.error({ err: error, kind: refusal.kind }, 'the tenant of a refusal could not be found')
    }
  }

  return {
    note(tenant, refusal) {
      if (tenant instanceof Promise) {
        const arrival = addOnceKnown(tenant, refusal).finally(() => arriving.delete(arrival))
        arriving.add(arrival)
      } else {
        add(tenant, refusal)
      }
    },
    async settled() {
      await Promise.all(arriving)
      for (const key of [...entries.keys()]) {
        // The first call writes the repetitions, the second removes the entry.
        end(key)
        end(key)
      }
      await written
    },
  }
}

function keyOf({ slug }: Tenant, { kind, subject, reason, address }: Refusal): string {
  return JSON.stringify([slug, kind, subject, reason, address])
}

function addressOf({ address }: Refusal): Record<string, JsonValue> {
  return address === '' ? {} : { address }
}

function repetitionsOf({ refusal, repeats, firstAtMs, lastAtMs, lastRequestId }: Entry): Record<string, JsonValue> {
  return {
    ...addressOf(refusal),
    request_id: lastRequestId,
    count: repeats,
    first_at: formatTimestamp(firstAtMs),
    last_at: formatTimestamp(lastAtMs),
  }
}
