/** Limits how many transactions of one class run, and how long one waits. */
export interface ClassRules {
  /** Maximum for all tenants together. */
  readonly all: number
  readonly ofTenant: number
  readonly waitMs: number
  /** Creates the error for a transaction that waited too long. */
  readonly rejection: () => Error
}

export interface FairQueueRules<Class extends string> {
  /** Maximum number of concurrent transactions. */
  readonly slots: number
  /** Maximum number of concurrent transactions of one tenant. */
  readonly ofTenant: number
  readonly classes: Readonly<Record<Class, ClassRules>>
}

/** Counts waits since the start. */
export interface WaitCounts {
  /** Transactions that wait now. */
  waiting: number
  /** Transactions that waited and then ran. */
  waited: number
  /** Transactions that waited too long and were refused. */
  refused: number
  /** Seconds that transactions of both kinds waited. */
  seconds: number
}

/** Returns the waits of two queues together. */
export function sumOfCounts<Class extends string>(
  one: Record<Class, WaitCounts>,
  other: Record<Class, WaitCounts>,
): Record<Class, WaitCounts> {
  const sum = (name: Class) => ({
    waiting: one[name].waiting + other[name].waiting,
    waited: one[name].waited + other[name].waited,
    refused: one[name].refused + other[name].refused,
    seconds: one[name].seconds + other[name].seconds,
  })
  return Object.fromEntries((Object.keys(one) as Class[]).map((name) => [name, sum(name)])) as Record<Class, WaitCounts>
}

interface Waiter {
  readonly sinceMs: number
  readonly order: number
  readonly grant: () => void
  readonly timer: NodeJS.Timeout
}

interface Lane<Class extends string> {
  running: number
  readonly runningOf: Partial<Record<Class, number>>
  /** Waiters by class, each class first in, first out. */
  readonly waiting: Map<Class, Set<Waiter>>
}

/**
 * Shares slots between tenants. Each tenant has a maximum number of slots, and so has each class of work, for all
 * tenants and for one. Waiting tenants take turns: a free slot goes to the tenant that was served the longest ago,
 * regardless of the number of transactions that another has waiting. Within a tenant, the oldest transaction whose
 * class has a slot runs first.
 * No transaction waits for longer than its class allows. Nobody may enter twice without leaving (see
 * `requireNoTransaction`).
 */
export class FairQueue<Class extends string> {
  readonly counts: Record<Class, WaitCounts>
  readonly #rules: FairQueueRules<Class>
  readonly #lanes = new Map<string, Lane<Class>>()
  /** Waiting tenants in the order of their turns. */
  readonly #turns = new Set<string>()
  readonly #runningOf: Record<Class, number>
  #running = 0
  #order = 0

  constructor(rules: FairQueueRules<Class>) {
    this.#rules = rules
    const names = Object.keys(rules.classes) as Class[]
    const each = <T>(make: () => T) => Object.fromEntries(names.map((name) => [name, make()])) as Record<Class, T>
    this.counts = each(() => ({ waiting: 0, waited: 0, refused: 0, seconds: 0 }))
    this.#runningOf = each(() => 0)
  }

  /**
   * Takes a slot; `leave` returns it.
   *
   * @returns undefined if the slot is taken at once
   * @throws the rejection of the class, through the promise, after its waiting time
   */
  enter(tenant: string, workClass: Class): Promise<void> | undefined {
    const lane = this.#laneOf(tenant)
    if (!lane.waiting.has(workClass) && this.#hasRoom(lane, workClass)) {
      this.#take(lane, workClass)
      return undefined
    }
    return this.#wait(tenant, lane, workClass)
  }

  leave(tenant: string, workClass: Class): void {
    const lane = this.#laneOf(tenant)
    this.#running -= 1
    this.#runningOf[workClass] -= 1
    lane.running -= 1
    lane.runningOf[workClass] = (lane.runningOf[workClass] ?? 0) - 1
    this.#forgetIdle(tenant, lane)
    this.#grantAll()
  }

  #laneOf(tenant: string): Lane<Class> {
    const known = this.#lanes.get(tenant)
    if (known) return known
    const lane: Lane<Class> = { running: 0, runningOf: {}, waiting: new Map() }
    this.#lanes.set(tenant, lane)
    return lane
  }

  #hasRoom(lane: Lane<Class>, workClass: Class): boolean {
    const { slots, ofTenant, classes } = this.#rules
    const rules = classes[workClass]
    return (
      this.#running < slots &&
      lane.running < ofTenant &&
      this.#runningOf[workClass] < rules.all &&
      (lane.runningOf[workClass] ?? 0) < rules.ofTenant
    )
  }

  #take(lane: Lane<Class>, workClass: Class): void {
    this.#running += 1
    this.#runningOf[workClass] += 1
    lane.running += 1
    lane.runningOf[workClass] = (lane.runningOf[workClass] ?? 0) + 1
  }

  #wait(tenant: string, lane: Lane<Class>, workClass: Class): Promise<void> {
    const { waitMs, rejection } = this.#rules.classes[workClass]
    const counts = this.counts[workClass]
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiters = lane.waiting.get(workClass) ?? new Set()
    const end = () => {
      clearTimeout(waiter.timer)
      counts.waiting -= 1
      counts.seconds += (performance.now() - waiter.sinceMs) / 1000
      waiters.delete(waiter)
      if (waiters.size === 0) lane.waiting.delete(workClass)
      if (lane.waiting.size === 0) this.#turns.delete(tenant)
    }
    const waiter: Waiter = {
      sinceMs: performance.now(),
      order: ++this.#order,
      grant: () => {
        end()
        counts.waited += 1
        this.#take(lane, workClass)
        resolve()
      },
      timer: setTimeout(() => {
        end()
        counts.refused += 1
        this.#forgetIdle(tenant, lane)
        reject(rejection())
      }, waitMs),
    }
    counts.waiting += 1
    waiters.add(waiter)
    lane.waiting.set(workClass, waiters)
    this.#turns.add(tenant)
    return promise
  }

  /** Grants free slots. A served tenant moves to the end of the turns. */
  #grantAll(): void {
    // A tenant that moved to the end is visited again, until nobody gets a slot.
    for (const tenant of this.#turns) {
      if (this.#running >= this.#rules.slots) return
      const lane = this.#laneOf(tenant)
      const next = this.#nextOf(lane)
      if (!next) continue
      this.#turns.delete(tenant)
      this.#turns.add(tenant)
      next.grant()
    }
  }

  /** Returns the oldest transaction of a tenant that may run. */
  #nextOf(lane: Lane<Class>): Waiter | undefined {
    let oldest: Waiter | undefined
    for (const [workClass, waiters] of lane.waiting) {
      const [first] = waiters
      if (!first || !this.#hasRoom(lane, workClass)) continue
      if (oldest === undefined || first.order < oldest.order) oldest = first
    }
    return oldest
  }

  #forgetIdle(tenant: string, lane: Lane<Class>): void {
    if (lane.running === 0 && lane.waiting.size === 0) this.#lanes.delete(tenant)
  }
}
