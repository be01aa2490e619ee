/** Milliseconds between two remembered deltas of a tenant. */
const sampleMs = 250
const samplesMax = 64
/** Age of a delta below which ingest is not slowed down, in milliseconds. A busy tenant is aggregated every five seconds. */
const lagMsAllowed = 8_000
/** Maximum pause between two groups of a tenant that is behind. */
const pauseMsMax = 1_000
/** A pause that was found longer ago no longer holds, in milliseconds. */
const pauseMsValid = 2 * pauseMsMax
/** Minimum milliseconds between two looks for the deltas of a tenant. */
const lookMs = 250
/** Fewer events since aggregation was last seen to keep up are no reason to look: they cannot delay it. */
const eventsMin = 256
/** Tenants whose deltas are remembered; beyond them, the one that ingested least recently is forgotten. */
const tenantsMax = 10_000

interface Sample {
  deltaId: string
  atMs: number
}

interface TenantPressure {
  /** Deltas that may not be aggregated yet, in the order of their commits. */
  samples: Sample[]
  eventsSince: number
  pauseMs: number
  lookedAtMs: number
  isLooking: boolean
}

interface PressureDeps {
  /** Returns which of the deltas are not aggregated yet. */
  stillWaiting(tenantId: string, deltaIds: readonly string[]): Promise<ReadonlySet<string>>
  nowMs?: () => number
}

/**
 * Slows down ingest of tenants whose deltas are not aggregated in time. Remembers some deltas of this process, and
 * looks whether they are still stored, so it works regardless of the process that aggregates. The oldest deltas are
 * aggregated first: one that is left while a later one is gone cannot be read, and does not count.
 */
export class FoldPressure {
  readonly #deps: PressureDeps
  readonly #nowMs: () => number
  readonly #tenants = new Map<string, TenantPressure>()
  #isStarted = false

  constructor(deps: PressureDeps) {
    this.#deps = deps
    this.#nowMs = deps.nowMs ?? (() => performance.now())
  }

  /** Call it in processes beside which aggregation runs; before, nothing is slowed down. */
  start(): void {
    this.#isStarted = true
  }

  stop(): void {
    this.#isStarted = false
    this.#tenants.clear()
  }

  /** Call it after the commit of a delta. */
  committed(tenantId: string, deltaId: string, events: number): void {
    if (!this.#isStarted) return
    const tenant = this.#tenants.get(tenantId) ?? {
      ...{ samples: [], eventsSince: 0, pauseMs: 0 },
      ...{ lookedAtMs: Number.NEGATIVE_INFINITY, isLooking: false },
    }
    this.#tenants.delete(tenantId)
    this.#tenants.set(tenantId, tenant)
    if (this.#tenants.size > tenantsMax) this.#tenants.delete(this.#tenants.keys().next().value!)
    tenant.eventsSince += events
    const atMs = this.#nowMs()
    const last = tenant.samples.at(-1)
    if (last && (atMs - last.atMs < sampleMs || tenant.samples.length === samplesMax)) return
    tenant.samples.push({ deltaId, atMs })
  }

  /** Returns the milliseconds for which the next group of a tenant must wait: 0, unless aggregation is behind. */
  pauseMs(tenantId: string): number {
    const tenant = this.#tenants.get(tenantId)
    if (!tenant) return 0
    if (this.#isWorthLooking(tenant)) void this.#look(tenantId, tenant)
    return this.#nowMs() - tenant.lookedAtMs > pauseMsValid ? 0 : tenant.pauseMs
  }

  #isWorthLooking({ samples, eventsSince, lookedAtMs, isLooking }: TenantPressure): boolean {
    const nowMs = this.#nowMs()
    if (isLooking || samples.length === 0 || eventsSince < eventsMin || nowMs - lookedAtMs < lookMs) return false
    return nowMs - samples[0]!.atMs > lagMsAllowed
  }

  async #look(tenantId: string, tenant: TenantPressure): Promise<void> {
    tenant.isLooking = true
    try {
      const asked = [...tenant.samples]
      const waiting = await this.#deps.stillWaiting(
        tenantId,
        asked.map(({ deltaId }) => deltaId),
      )
      const firstWaiting = asked.findLastIndex(({ deltaId }) => !waiting.has(deltaId)) + 1
      tenant.samples.splice(0, firstWaiting)
    } catch {
      // Without the database, ingest fails by itself.
    }
    tenant.lookedAtMs = this.#nowMs()
    tenant.isLooking = false
    const oldest = tenant.samples[0]
    const lagMs = oldest ? this.#nowMs() - oldest.atMs : 0
    if (lagMs <= lagMsAllowed) tenant.eventsSince = 0
    tenant.pauseMs = Math.min(pauseMsMax, Math.max(0, lagMs - lagMsAllowed))
  }
}
