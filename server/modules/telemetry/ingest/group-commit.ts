import { DomainError } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RecordReceipt } from '../../hub/hub-types.ts'
import { ClaimRefused, type EventWriter, type Submission } from './event-writer.ts'

/**
 * Group commit: submissions of a tenant that arrive while others are being committed share the next transaction. Each
 * is answered after its own commit, and none waits for company: a tenant that is idle commits a lone event at once.
 */
export interface GroupCommit {
  /**
   * Stores the events and answers their receipts once they are committed. Throws what its own events or claim deserve,
   * whatever the rest of the group does; `hub-unavailable` when too much waits to be stored.
   */
  store(tenant: Tenant, submission: Submission): Promise<RecordReceipt[]>
}

interface Member extends Submission {
  settle(outcome: PromiseSettledResult<RecordReceipt[]>): void
}

interface TenantQueue {
  tenant: Tenant
  waiting: Member[]
  /** Of those that wait. */
  waitingEvents: number
  /** Transactions under way. */
  running: number
  /** A look at what waits has been put off to the end of this turn of the event loop. */
  scheduled: boolean
  /** Members that go by themselves, because their keys would hold up a group. */
  lone: Member[]
  /** Transactions of such members under way. */
  loneRunning: number
}

const transactionsPerTenantMax = 4
/** Of members that go by themselves: a client that repeats its keys must not take all connections. */
const lonePerTenantMax = 2
/**
 * Beside a transaction under way another one starts only for so many events: one costs much the same whatever it
 * holds, so a few are better off waiting for the next. Batches need not wait for each other.
 */
const eventsBesideMin = 500
/** As many as a batch has. */
const groupEventsMax = 1000
/** After so many claims were refused, those that are left go one by one. */
const refusalsMax = 3

/** What may wait to be stored, of all tenants. About a second of work, and memory that the process can spare. */
const waitingEventsMax = 50_000
const waitingBytesMax = 128 * 1024 * 1024

export function createGroupCommit(deps: { writer: EventWriter; stored(tenantId: string): void }): GroupCommit {
  const { writer, stored } = deps
  const queues = new Map<string, TenantQueue>()
  const load = { events: 0, bytes: 0 }

  function schedule(queue: TenantQueue): void {
    if (queue.scheduled || !mayStart(queue)) return
    queue.scheduled = true
    // Whatever else this turn of the event loop reads from sockets comes along.
    setImmediate(() => {
      queue.scheduled = false
      while (mayStart(queue)) void run(queue)
    })
  }

  async function run(queue: TenantQueue): Promise<void> {
    queue.running++
    await commit(queue, takeGroup(queue))
    queue.running--
    schedule(queue)
    forgetIdle(queue)
  }

  function forgetIdle({ tenant, waiting, running, lone, loneRunning }: TenantQueue): void {
    if (waiting.length + running + lone.length + loneRunning === 0) queues.delete(tenant.slug)
  }

  /** Never rejects: every member is settled with what became of it. */
  async function commit(queue: TenantQueue, members: readonly Member[]): Promise<void> {
    const { tenant } = queue
    let left = [...members]
    for (let refusals = 0; left.length > 0; refusals++) {
      try {
        const receipts = await writer.store(tenant, left, false)
        left.forEach((member, index) => {
          member.settle({ status: 'fulfilled', value: receipts[index]! })
        })
        return stored(tenant.slug)
      } catch (error) {
        if (!(error instanceof ClaimRefused)) return separate(queue, left, error)
        const [refused] = left.splice(error.index, 1)
        if (error.inFlight) goAlone(queue, [refused!])
        else fail(refused!, refused!.claim!.taken())
        if (refusals < refusalsMax) continue
        const claiming = left.filter(({ claim }) => claim !== undefined)
        left = left.filter(({ claim }) => claim === undefined)
        goAlone(queue, claiming)
      }
    }
  }

  function goAlone(queue: TenantQueue, members: readonly Member[]): void {
    queue.lone.push(...members)
    while (queue.lone.length > 0 && queue.loneRunning < lonePerTenantMax) void runAlone(queue)
  }

  async function runAlone(queue: TenantQueue): Promise<void> {
    queue.loneRunning++
    for (let member = queue.lone.shift(); member !== undefined; member = queue.lone.shift()) {
      await commitAlone(queue.tenant, member)
    }
    queue.loneRunning--
    forgetIdle(queue)
  }

  /** One that would hold up its neighbours, in a transaction of its own that waits as long as it takes. */
  async function commitAlone(tenant: Tenant, member: Member): Promise<void> {
    try {
      const [receipts] = await writer.store(tenant, [member], true)
      member.settle({ status: 'fulfilled', value: receipts! })
      stored(tenant.slug)
    } catch (error) {
      fail(member, error instanceof ClaimRefused ? member.claim!.taken() : error)
    }
  }

  /** A database that is away fails them all alike. Anything else is one member's fault: halves find out whose. */
  async function separate(queue: TenantQueue, members: readonly Member[], error: unknown): Promise<void> {
    if (members.length === 1 || error instanceof DomainError) {
      for (const member of members) fail(member, error)
      return
    }
    const half = Math.ceil(members.length / 2)
    await commit(queue, members.slice(0, half))
    await commit(queue, members.slice(half))
  }

  return {
    store(tenant, submission) {
      const events = submission.events.length
      const bytes = submission.events.reduce((sum, event) => sum + event.sizeBytes, 0)
      if (load.events > 0 && (load.events + events > waitingEventsMax || load.bytes + bytes > waitingBytesMax)) {
        throw new DomainError('hub-unavailable', 'More events arrive than can be stored just now. Try again shortly.', {
          retryAfterSeconds: 1,
        })
      }
      load.events += events
      load.bytes += bytes
      const { promise, resolve, reject } = Promise.withResolvers<RecordReceipt[]>()
      const queue = queues.get(tenant.slug) ?? emptyQueue(tenant)
      queues.set(tenant.slug, queue)
      queue.waiting.push({
        ...submission,
        settle(outcome) {
          load.events -= events
          load.bytes -= bytes
          if (outcome.status === 'fulfilled') resolve(outcome.value)
          else reject(outcome.reason)
        },
      })
      queue.waitingEvents += events
      schedule(queue)
      return promise
    },
  }
}

function emptyQueue(tenant: Tenant): TenantQueue {
  return { tenant, waiting: [], waitingEvents: 0, running: 0, scheduled: false, lone: [], loneRunning: 0 }
}

function mayStart({ waiting, waitingEvents, running }: TenantQueue): boolean {
  if (waiting.length === 0) return false
  return running === 0 || (running < transactionsPerTenantMax && waitingEvents >= eventsBesideMin)
}

/** From the front, as many as fit in a group; one that is larger makes a group by itself. */
function takeGroup(queue: TenantQueue): Member[] {
  let events = 0
  const end = queue.waiting.findIndex((member, index) => {
    events += member.events.length
    return index > 0 && events > groupEventsMax
  })
  const group = queue.waiting.splice(0, end < 0 ? queue.waiting.length : end)
  queue.waitingEvents -= group.reduce((sum, member) => sum + member.events.length, 0)
  return group
}

function fail(member: Member, reason: unknown): void {
  member.settle({ status: 'rejected', reason })
}
