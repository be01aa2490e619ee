import { DomainError } from '../../../../contract/domain-error.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { RecordReceipt } from '../../records/records-types.ts'
import { ClaimRefused, type EventWriter, type Submission } from './event-writer.ts'

/**
 * Implements group commit: submissions of a tenant that arrive during a commit share the next transaction. Each gets
 * its response after its own commit, and none waits for others: an idle tenant commits a single event at once.
 */
export interface GroupCommit {
  /**
   * Stores the events and returns their receipts after the commit. Throws only errors of its own events or claim,
   * regardless of the rest of the group; `hub-unavailable` if the backlog is full.
   */
  store(tenant: Tenant, submission: Submission): Promise<RecordReceipt[]>
}

interface Member extends Submission {
  settle(outcome: PromiseSettledResult<RecordReceipt[]>): void
}

interface TenantQueue {
  tenant: Tenant
  waiting: Member[]
  /** The number of waiting events. */
  waitingEvents: number
  /** The number of running transactions. */
  running: number
  /** Whether a start is scheduled for the end of this turn of the event loop. */
  scheduled: boolean
  /** Members that are stored alone, because their keys would delay a group. */
  lone: Member[]
  /** The number of running transactions of such members. */
  loneRunning: number
}

const transactionsPerTenantMax = 4
/**
 * Maximum number of members that are stored alone at once: a client that repeats its keys must not take all
 * connections.
 */
const lonePerTenantMax = 2
/**
 * Minimum number of waiting events to start another transaction beside a running one. A transaction costs about the
 * same for any number, so a few events wait for the next. Batches do not wait for each other.
 */
const eventsBesideMin = 500
/** Maximum number of events in a group: as many as a batch may have. */
const groupEventsMax = 1000
/** After this many refused claims, the remaining members with a claim are stored alone. */
const refusalsMax = 3

/** Maximum backlog of all tenants: about a second of work, and memory that the process can spare. */
const waitingEventsMax = 50_000
const waitingBytesMax = 128 * 1024 * 1024

export function createGroupCommit(deps: { writer: EventWriter; stored(tenantId: string): void }): GroupCommit {
  const { writer, stored } = deps
  const queues = new Map<string, TenantQueue>()
  const load = { events: 0, bytes: 0 }

  function schedule(queue: TenantQueue): void {
    if (queue.scheduled || !mayStart(queue)) return
    queue.scheduled = true
    // Events that this turn of the event loop reads from sockets join the group.
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

  /** Stores a group. Never rejects: every member is settled with its own result. */
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

  /** Stores a member that would delay its neighbours, in a transaction of its own that waits for the key. */
  async function commitAlone(tenant: Tenant, member: Member): Promise<void> {
    try {
      const [receipts] = await writer.store(tenant, [member], true)
      member.settle({ status: 'fulfilled', value: receipts! })
      stored(tenant.slug)
    } catch (error) {
      fail(member, error instanceof ClaimRefused ? member.claim!.taken() : error)
    }
  }

  /**
   * Fails all members if the database is away. Any other error is one member's fault, which halving the group finds.
   */
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

/** Takes the first members that fit into a group; a larger one is a group of its own. */
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
