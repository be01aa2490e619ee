import type { TenantTx } from '../db/database.ts'
import { databaseTimes } from '../db/database-time.ts'

/** A target as the database has it. */
export interface TargetState {
  id: string
  /** Whether it has due work. */
  isActive: boolean
  leasedBy: string | null
  /** Milliseconds until its lease ends; negative once it has ended. */
  leaseMs: number | null
}

/** A target whose lease this process holds. */
export interface LeasedTarget {
  /** The end of the lease; nothing starts after it. */
  leasedUntilMs: number
  /** Returns whether the lease can be released. */
  isDone(isActive: boolean): boolean
}

/** The changes of leases in a transaction; they apply once it has committed. */
export interface LeaseChanges {
  leased: ReadonlySet<string>
  /** Targets whose lease could not be extended, and targets that no longer exist. */
  lost: ReadonlySet<string>
  released: ReadonlySet<string>
  leasedUntilMs: number
  /** Milliseconds until the leases must be looked at again. */
  nextMs: number
}

/**
 * Holds the leases of a tenant's targets. They are extended after a third of their duration, by calls of {@link update}.
 * If the process dies, its leases end, and others take over.
 */
export class TargetLeases<Target extends LeasedTarget> {
  readonly held = new Map<string, Target>()
  readonly #table: LeaseTable
  readonly #by: string
  readonly #seconds: number

  /** @param by the id of this process */
  constructor(table: LeaseTable, by: string, seconds: number) {
    this.#table = table
    this.#by = by
    this.#seconds = seconds
  }

  /**
   * Leases free targets with due work, extends leases that are held, and releases those that are done.
   *
   * @param nowMs the time before the transaction
   */
  async update(tx: TenantTx, states: readonly TargetState[], nowMs: number): Promise<LeaseChanges> {
    const leaseMs = this.#seconds * 1000
    const free: string[] = []
    const extended: string[] = []
    const released: string[] = []
    let nextMs = Number.POSITIVE_INFINITY
    for (const state of states) {
      const target = this.held.get(state.id)
      if (target) {
        if (target.isDone(state.isActive)) released.push(state.id)
        else if (target.leasedUntilMs - nowMs < (leaseMs * 2) / 3) extended.push(state.id)
        nextMs = Math.min(nextMs, leaseMs / 3)
      } else if (state.isActive) {
        const isFree = state.leasedBy === null || state.leasedBy === this.#by || (state.leaseMs ?? 0) <= 0
        if (isFree) free.push(state.id)
        else nextMs = Math.min(nextMs, (state.leaseMs ?? 0) + 1)
      }
    }
    const leased = free.length + extended.length > 0 ? await this.#lease(tx, free, extended) : new Set<string>()
    if (released.length > 0) await this.release(tx, released)
    const known = new Set(states.map(({ id }) => id))
    const lost = new Set(extended.filter((id) => !leased.has(id)))
    for (const id of this.held.keys()) if (!known.has(id)) lost.add(id)
    return { leased, lost, released: new Set(released), leasedUntilMs: nowMs + leaseMs, nextMs }
  }

  /** Returns whether this process holds a target after the changes. */
  holds(id: string, { leased, lost, released }: LeaseChanges): boolean {
    return leased.has(id) || (this.held.has(id) && !lost.has(id) && !released.has(id))
  }

  /**
   * Applies changes after their commit.
   *
   * @param make creates a target that was leased; undefined leaves its lease to expire
   * @param end handles a target that this process holds no longer
   */
  apply(
    { leased, lost, released, leasedUntilMs }: LeaseChanges,
    make: (id: string) => Target | undefined,
    end: (id: string, target: Target) => void,
  ): void {
    for (const id of [...lost, ...released]) {
      const target = this.held.get(id)
      if (target) end(id, target)
    }
    for (const id of leased) {
      const target = this.held.get(id) ?? make(id)
      if (!target) continue
      target.leasedUntilMs = leasedUntilMs
      this.held.set(id, target)
    }
  }

  /** Releases targets, so that another process, or this one, may continue at once. */
  async release(tx: TenantTx, ids: readonly string[]): Promise<void> {
    const { table, id, by, until } = this.#table
    await tx.client.query(
      `update ${table} set ${by} = null, ${until} = null
       where tenant_id = $1 and ${id} = any($2::text[]) and ${by} = $3`,
      [tx.tenantId, ids.toSorted(), this.#by],
    )
  }

  /** Returns the targets that this process holds now: other processes may have been faster. */
  async #lease(tx: TenantTx, free: readonly string[], held: readonly string[]): Promise<Set<string>> {
    const { table, id, by, until, ready = 'true' } = this.#table
    const [now, end] = await databaseTimes(tx, this.#seconds)
    const { rows } = await tx.client.query<{ id: string }>(
      `update ${table} set ${by} = $3, ${until} = $4
       where tenant_id = $1 and ${id} = any($2::text[]) and ${ready}
         and (${by} = $3 or ${id} <> all($6::text[]) and (${by} is null or ${until} <= $5))
       returning ${id} as id`,
      [tx.tenantId, [...free, ...held].toSorted(), this.#by, end, now, held],
    )
    return new Set(rows.map((row) => row.id))
  }
}

/** A table with a row and a lease for each target. The names are literals of the service. */
export interface LeaseTable {
  table: 'hub.webhook_progress' | 'hub.connector_deliveries'
  /** The columns with the id of the target, the holder of its lease, and the end of the lease. */
  id: string
  by: string
  until: string
  /** A further condition for a lease; `$5` is the time. */
  ready?: string
}
