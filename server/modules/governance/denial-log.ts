import { setImmediate as turn } from 'node:timers/promises'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { ModuleParts } from '../../module-parts.ts'
import type { Denial, DenialRecorder } from './governance-types.ts'

const repeatMs = 60_000
const actor = { service: 'access-control' } as const

/** A denial and the number of its repetitions since its last event. */
interface Entry {
  tenant: Tenant
  denial: Denial
  repeats: number
  firstAtMs: number
  lastAtMs: number
  lastRequestId: string
  timer: NodeJS.Timeout
}

interface DenialLogDeps extends Pick<ModuleParts, 'database' | 'governance' | 'log'> {
  /**
   * Maximum number of distinct denials tracked at one time. Further ones are counted as `others`, one entry per tenant
   * and kind. A stranger with many addresses causes many denials and must fill neither memory nor the log.
   */
  keysMax?: { perTenant: number; all: number }
}

/** Writes denials as governance events, repetitions within a minute as one event. */
export class DenialLog implements DenialRecorder {
  readonly #deps: Required<DenialLogDeps>
  readonly #entries = new Map<string, Entry>()
  readonly #keysOfTenants = new Map<string, number>()
  /** Refusals whose tenant lookup is pending. */
  readonly #arriving = new Set<Promise<void>>()
  // One at a time, so that denials use at most one connection.
  #written: Promise<void> = Promise.resolve()

  constructor({ keysMax = { perTenant: 100, all: 10_000 }, ...deps }: DenialLogDeps) {
    this.#deps = { ...deps, keysMax }
  }

  note(tenant: Tenant | Promise<Tenant | undefined>, denial: Denial): void {
    if (tenant instanceof Promise) {
      const arrival = this.#addOnceKnown(tenant, denial).finally(() => this.#arriving.delete(arrival))
      this.#arriving.add(arrival)
    } else {
      this.#add(tenant, denial)
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

  async #addOnceKnown(tenant: Promise<Tenant | undefined>, denial: Denial): Promise<void> {
    try {
      const found = await tenant
      if (found) this.#add(found, denial)
    } catch (error) {
      this.#deps.log.error({ err: error, kind: denial.kind }, 'the tenant of a denial could not be found')
    }
  }

  #add(tenant: Tenant, denial: Denial): void {
    const key = keyOf(tenant, denial)
    const known = this.#entries.get(key)
    if (known) {
      repeat(known, denial)
    } else if (this.#isFull(tenant)) {
      const { kind, requestId } = denial
      const others = { kind, requestId, subject: `tenant:${tenant.slug}`, reason: 'others', address: '' }
      const othersKey = keyOf(tenant, others)
      repeat(this.#entries.get(othersKey) ?? this.#open(othersKey, tenant, others), denial)
    } else {
      this.#open(key, tenant, denial)
      this.#write(tenant, denial, { ...addressOf(denial), request_id: denial.requestId })
    }
  }

  #isFull({ slug }: Tenant): boolean {
    const { perTenant, all } = this.#deps.keysMax
    return this.#entries.size >= all || (this.#keysOfTenants.get(slug) ?? 0) >= perTenant
  }

  #open(key: string, tenant: Tenant, denial: Denial): Entry {
    const timer = setTimeout(() => this.#end(key), repeatMs).unref()
    const entry = { tenant, denial, repeats: 0, firstAtMs: 0, lastAtMs: 0, lastRequestId: '', timer }
    this.#entries.set(key, entry)
    this.#keysOfTenants.set(tenant.slug, (this.#keysOfTenants.get(tenant.slug) ?? 0) + 1)
    return entry
  }

  /** Writes the repetitions and starts another minute; removes an entry without repetitions. */
  #end(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    if (entry.repeats > 0) {
      this.#write(entry.tenant, entry.denial, repetitionsOf(entry))
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

  #write(tenant: Tenant, denial: Denial, details: Record<string, JsonValue>): void {
    const { database, governance, log } = this.#deps
    const { kind, subject, reason } = denial
    const event = { kind, subject, details: { reason, ...denial.details, ...details }, actor }
    this.#written = this.#written
      // Sends the response first.
      .then(() => turn())
      .then(() => database.withTenant(tenant.slug, (tx) => governance.append(tx, tenant, event)))
      .then(
        () => undefined,
        (error: unknown) => log.error({ err: error, tenant: tenant.slug, kind }, 'a denial could not be written'),
      )
  }
}

function repeat(entry: Entry, { requestId }: Denial): void {
  const nowMs = Date.now()
  if (entry.repeats === 0) entry.firstAtMs = nowMs
  Object.assign(entry, { repeats: entry.repeats + 1, lastAtMs: nowMs, lastRequestId: requestId })
}

function keyOf({ slug }: Tenant, { kind, subject, reason, address, details }: Denial): string {
  return JSON.stringify([slug, kind, subject, reason, address, details?.agent])
}

function addressOf({ address }: Denial): Record<string, JsonValue> {
  return address === '' ? {} : { address }
}

function repetitionsOf({ denial, repeats, firstAtMs, lastAtMs, lastRequestId }: Entry): Record<string, JsonValue> {
  return {
    ...addressOf(denial),
    request_id: lastRequestId,
    count: repeats,
    first_at: formatTimestamp(firstAtMs),
    last_at: formatTimestamp(lastAtMs),
  }
}
