import { setImmediate as turn } from 'node:timers/promises'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Refusal, RefusalLog } from './governance-types.ts'

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

interface DenialLogDeps extends Pick<ModuleParts, 'database' | 'governance' | 'log'> {
  /**
   * Maximum number of distinct refusals tracked at one time. Further ones are counted as `others`, one entry per tenant
   * and kind. A stranger with many addresses causes many refusals and must fill neither memory nor the log.
   */
  keysMax?: { perTenant: number; all: number }
}

/** Writes refusals as governance events, repetitions within a minute as one event. */
export class DenialLog implements RefusalLog {
  readonly #deps: Required<DenialLogDeps>
  readonly #entries = new Map<string, Entry>()
  readonly #keysOfTenants = new Map<string, number>()
  /** Refusals whose tenant lookup is pending. */
  readonly #arriving = new Set<Promise<void>>()
  // One at a time, so that refusals use at most one connection.
  #written: Promise<void> = Promise.resolve()

  constructor({ keysMax = { perTenant: 100, all: 10_000 }, ...deps }: DenialLogDeps) {
    this.#deps = { ...deps, keysMax }
  }

  note(tenant: Tenant | Promise<Tenant | undefined>, refusal: Refusal): void {
    if (tenant instanceof Promise) {
      const arrival = this.#addOnceKnown(tenant, refusal).finally(() => this.#arriving.delete(arrival))
      this.#arriving.add(arrival)
    } else {
      this.#add(tenant, refusal)
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#arriving)
    for (const key of [...this.#entries.keys()]) {
      // The first call writes the repetitions, the second removes the entry.
      this.#end(key)
      this.#end(key)
    }
    await this.#written
  }

  async #addOnceKnown(tenant: Promise<Tenant | undefined>, refusal: Refusal): Promise<void> {
    try {
      const found = await tenant
      if (found) this.#add(found, refusal)
    } catch (error) {
      this.#deps.log.error({ err: error, kind: refusal.kind }, 'the tenant of a refusal could not be found')
    }
  }

  #add(tenant: Tenant, refusal: Refusal): void {
    const key = keyOf(tenant, refusal)
    const known = this.#entries.get(key)
    if (known) {
      repeat(known, refusal)
    } else if (this.#isFull(tenant)) {
      const { kind, requestId } = refusal
      const others = { kind, requestId, subject: `tenant:${tenant.slug}`, reason: 'others', address: '' }
      const othersKey = keyOf(tenant, others)
      repeat(this.#entries.get(othersKey) ?? this.#open(othersKey, tenant, others), refusal)
    } else {
      this.#open(key, tenant, refusal)
      this.#write(tenant, refusal, { ...addressOf(refusal), request_id: refusal.requestId })
    }
  }

  #isFull({ slug }: Tenant): boolean {
    const { perTenant, all } = this.#deps.keysMax
    return this.#entries.size >= all || (this.#keysOfTenants.get(slug) ?? 0) >= perTenant
  }

  #open(key: string, tenant: Tenant, refusal: Refusal): Entry {
    const timer = setTimeout(() => this.#end(key), repeatMs).unref()
    const entry = { tenant, refusal, repeats: 0, firstAtMs: 0, lastAtMs: 0, lastRequestId: '', timer }
    this.#entries.set(key, entry)
    this.#keysOfTenants.set(tenant.slug, (this.#keysOfTenants.get(tenant.slug) ?? 0) + 1)
    return entry
  }

  /** Writes the repetitions and starts another minute; removes an entry without repetitions. */
  #end(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    if (entry.repeats > 0) {
      this.#write(entry.tenant, entry.refusal, repetitionsOf(entry))
      entry.repeats = 0
      entry.timer.refresh()
      return
    }
    clearTimeout(entry.timer)
    this.#entries.delete(key)
    const { slug } = entry.tenant
    const left = (this.#keysOfTenants.get(slug) ?? 1) - 1
    if (left > 0) this.#keysOfTenants.set(slug, left)
    else this.#keysOfTenants.delete(slug)
  }

  #write(tenant: Tenant, refusal: Refusal, details: Record<string, JsonValue>): void {
    const { database, governance, log } = this.#deps
    const { kind, subject, reason } = refusal
    const event = { kind, subject, details: { reason, ...refusal.details, ...details }, actor }
    this.#written = this.#written
      // Sends the response first.
      .then(() => turn())
      .then(() => database.withTenant(tenant.slug, (tx) => governance.append(tx, tenant, event)))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error, tenant: tenant.slug, kind }, 'a refusal could not be written'),
      )
  }
}

function repeat(entry: Entry, { requestId }: Refusal): void {
  const nowMs = Date.now()
  if (entry.repeats === 0) entry.firstAtMs = nowMs
  Object.assign(entry, { repeats: entry.repeats + 1, lastAtMs: nowMs, lastRequestId: requestId })
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
