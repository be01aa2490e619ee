import { setTimeout as delay } from 'node:timers/promises'
import { backoff } from '../../../../contract/backoff.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import type { DatabaseLog } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import type { LogHead } from '../log-types.ts'
import {
  type CheckpointPublisher,
  type CheckpointSink,
  LogRollbackError,
  type StoredCheckpoint,
} from './checkpoint-types.ts'

export interface PublisherTimes {
  /** Milliseconds between two stored checkpoints of one log. */
  intervalMs: number
  /** Milliseconds between two reads of the heads that other processes have signed. */
  lookMs: number
  /** Milliseconds before a retry; doubled each time. */
  retryMs: { first: number; max: number }
  /** Maximum milliseconds for which stopping waits for running writes. */
  stopMs: number
}

const usualTimes: PublisherTimes = {
  intervalMs: 2_000,
  lookMs: 60_000,
  retryMs: { first: 1_000, max: 300_000 },
  stopMs: 5_000,
}

/**
 * Maximum logs that are sent to one sink at once, so that one slow log does not delay the others, and few files are
 * open.
 */
const atOnceMax = 8

/**
 * Creates the publisher. Each sink gets the newest checkpoint of each log independently, so that an unavailable sink
 * delays no other. A newer checkpoint replaces a waiting one, so memory is bounded by the number of logs.
 */
export function createCheckpointPublisher(deps: {
  sinks: readonly CheckpointSink[]
  /** Lists the stored head of every log. */
  storedHeads: () => AsyncIterable<{ tenant: Tenant; head: LogHead }>
  /** Returns whether the later checkpoint is consistent with the earlier one. */
  continues: (tenant: Tenant, earlier: StoredCheckpoint, later: StoredCheckpoint) => Promise<boolean>
  /** Receives a head that is inconsistent with a stored checkpoint; must not throw. */
  disagreed?: (tenant: Tenant, found: { tree_size: number; kept_tree_size: number; place: string }) => void
  log: DatabaseLog
  times?: Partial<PublisherTimes>
}): CheckpointPublisher {
  const { storedHeads, log } = deps
  const times = { ...usualTimes, ...deps.times }
  const lanes = deps.sinks.map((sink) => createLane(sink, times, deps))
  let lookTimer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let isStarted = false

  function offer(tenant: Tenant, head: LogHead): void {
    // Every log is consistent with an empty one.
    if (head.treeSize === 0) return
    const kept_at = formatTimestamp(Date.now())
    const checkpoint = { kept_at, log_name: tenant.logName, tree_size: head.treeSize, checkpoint: head.checkpoint }
    for (const lane of lanes) lane.offer(tenant, checkpoint)
  }

  async function look(): Promise<void> {
    try {
      for await (const { tenant, head } of storedHeads()) {
        if (!isStarted) return
        offer(tenant, head)
      }
    } catch (error) {
      log.warn({ err: error }, 'the states of the logs could not be read; they will be in a minute')
    }
    if (isStarted) lookTimer = setTimeout(() => (looking = look()), times.lookMs).unref()
  }

  return {
    headSigned(tenant, head) {
      if (isStarted) offer(tenant, head)
    },
    start() {
      if (isStarted || lanes.length === 0) return
      isStarted = true
      looking = look()
    },
    async stop() {
      if (!isStarted) return
      isStarted = false
      clearTimeout(lookTimer)
      await looking
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}

/** The pending checkpoint of one log for one sink. */
interface Turn {
  tenant: Tenant
  waiting: StoredCheckpoint | undefined
  /** The checkpoint that was stored last, or permanently refused; not sent again. */
  done: string | undefined
  running: boolean
  failures: number
  notBeforeMs: number
}

function createLane(
  sink: CheckpointSink,
  times: PublisherTimes,
  {
    continues,
    disagreed,
    log,
  }: Pick<Parameters<typeof createCheckpointPublisher>[0], 'continues' | 'disagreed' | 'log'>,
) {
  const turns = new Map<string, Turn>()
  const running = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  function pump(): void {
    clearTimeout(timer)
    const nowMs = performance.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const turn of turns.values()) {
      if (turn.waiting === undefined || turn.running) continue
      if (turn.notBeforeMs > nowMs) nextMs = Math.min(nextMs, turn.notBeforeMs)
      else if (running.size < atOnceMax && !isStopping) begin(turn)
    }
    if (nextMs < Number.POSITIVE_INFINITY) timer = setTimeout(pump, Math.max(1, nextMs - nowMs)).unref()
  }

  function begin(turn: Turn): void {
    const work = keep(turn).finally(() => {
      running.delete(work)
      if (!isStopping) pump()
    })
    running.add(work)
  }

  async function keep(turn: Turn): Promise<void> {
    const checkpoint = turn.waiting!
    turn.waiting = undefined
    turn.running = true
    let pauseMs = times.intervalMs
    try {
      await sink.keep(checkpoint, (earlier, later) => continues(turn.tenant, earlier, later))
      if (turn.failures > 0)
        log.info({ log_name: checkpoint.log_name, place: sink.place }, 'checkpoints are stored again')
      turn.done = checkpoint.checkpoint
      turn.failures = 0
    } catch (error) {
      const { log_name, tree_size } = checkpoint
      const details = { err: error, log_name, tree_size, place: sink.place }
      if (error instanceof LogRollbackError) {
        log.error(
          details,
          'the log of a tenant was restored to an earlier state: it disagrees with a stored checkpoint',
        )
        disagreed?.(turn.tenant, { tree_size, kept_tree_size: error.kept.tree_size, place: sink.place })
        turn.done = checkpoint.checkpoint
      } else {
        pauseMs = backoff(turn.failures, times.retryMs)
        turn.failures += 1
        // Logs the first failure and then, by powers of two, ever fewer.
        if (Number.isInteger(Math.log2(turn.failures))) {
          log.warn({ ...details, attempts: turn.failures }, 'could not store a checkpoint; retrying')
        }
        turn.waiting ??= checkpoint
      }
    }
    turn.running = false
    turn.notBeforeMs = performance.now() + pauseMs
  }

  return {
    offer(tenant: Tenant, checkpoint: StoredCheckpoint): void {
      const known = turns.get(checkpoint.log_name)
      const turn = known ?? { tenant, waiting: undefined, done: undefined, running: false, failures: 0, notBeforeMs: 0 }
      if (!known) turns.set(checkpoint.log_name, turn)
      if (turn.done === checkpoint.checkpoint) return
      // A read of stored heads may arrive after a newer one was announced.
      if (turn.waiting && turn.waiting.tree_size > checkpoint.tree_size) return
      turn.waiting = checkpoint
      if (!isStopping) pump()
    },
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      let isLate = false
      const last = (async () => {
        await Promise.all(running)
        // Tries each once more, regardless of its pause.
        const waiting = [...turns].filter(([, turn]) => turn.waiting !== undefined)
        for (let at = 0; at < waiting.length && !isLate; at += atOnceMax) {
          await Promise.all(waiting.slice(at, at + atOnceMax).map(([, turn]) => keep(turn)))
        }
      })()
      await Promise.race([last, delay(times.stopMs, undefined, { ref: false })])
      isLate = true
    },
  }
}
