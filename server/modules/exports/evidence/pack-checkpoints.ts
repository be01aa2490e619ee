import { toBase64 } from '../../../../provenance/bytes.ts'
import type { LinkedCheckpoint } from '../../../../provenance/evidence-pack.ts'
import { ProvenanceError, parseCheckpoint } from '../../../../provenance/index.ts'
import type { TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { microsOf } from '../../../records/monotonic-timestamp.ts'
import type { LogHead, StoredCheckpoints, TenantLogs } from '../../log/log-types.ts'
import type { LogIndexRange } from '../../sealing/sealed-records-types.ts'
import type { PackPeriod } from './evidence-store.ts'

interface TimedCheckpoint {
  treeSize: number
  checkpoint: string
  timeMicros: number
}

/** The stored checkpoints around a period. They prove that no entry of the period is missing between them. */
export class PackCheckpoints {
  readonly #logs: Pick<TenantLogs, 'consistencyPath'>
  readonly #period: PackPeriod
  readonly #stored: readonly TimedCheckpoint[]
  before: LinkedCheckpoint | null = null
  after: LinkedCheckpoint | null = null

  private constructor(
    logs: Pick<TenantLogs, 'consistencyPath'>,
    period: PackPeriod,
    stored: readonly TimedCheckpoint[],
  ) {
    this.#logs = logs
    this.#period = period
    this.#stored = stored
  }

  static async read(
    deps: { logs: Pick<TenantLogs, 'consistencyPath'>; checkpoints: Pick<StoredCheckpoints, 'near'> },
    { logName }: Tenant,
    period: PackPeriod,
  ): Promise<PackCheckpoints> {
    const found = await Promise.all([period.from, period.to].map((time) => deps.checkpoints.near(logName, time)))
    return new PackCheckpoints(deps.logs, period, found.flat().flatMap(timed))
  }

  /** Chooses the checkpoints closest to the period. Returns the range of the log between them. */
  async enclose(tx: TenantTx, span: LogIndexRange, head: LogHead): Promise<LogIndexRange> {
    const [fromMicros, toMicros] = [microsOf(this.#period.from), microsOf(this.#period.to)]
    const known = this.#stored.filter(({ treeSize }) => treeSize <= head.treeSize)
    const before = known
      .filter(({ timeMicros }) => timeMicros <= fromMicros)
      .reduce<TimedCheckpoint | undefined>(
        (best, each) => (each.treeSize > (best?.treeSize ?? -1) ? each : best),
        undefined,
      )
    const after = known
      .filter(({ timeMicros, treeSize }) => timeMicros >= toMicros && treeSize >= span.to)
      .reduce<TimedCheckpoint | undefined>(
        (best, each) => (best && each.treeSize >= best.treeSize ? best : each),
        undefined,
      )
    this.before = before ? await this.#linked(tx, before, head) : null
    this.after = after ? await this.#linked(tx, after, head) : null
    return {
      from: Math.min(span.from, before?.treeSize ?? span.from),
      to: Math.max(span.to, after?.treeSize ?? head.treeSize),
    }
  }

  async #linked(tx: TenantTx, { treeSize, checkpoint }: TimedCheckpoint, head: LogHead): Promise<LinkedCheckpoint> {
    const needsPath = treeSize > 0 && treeSize < head.treeSize
    const path = needsPath ? await this.#logs.consistencyPath(tx, treeSize, head.treeSize) : []
    return { checkpoint, consistency_path: path.map(toBase64) }
  }
}

/** Returns the checkpoint with the time of its signature. Skips unreadable ones and those without a time. */
function timed({ treeSize, checkpoint }: { treeSize: number; checkpoint: string }): TimedCheckpoint[] {
  try {
    const { timeMicros } = parseCheckpoint(checkpoint)
    return timeMicros === undefined ? [] : [{ treeSize, checkpoint, timeMicros }]
  } catch (error) {
    if (error instanceof ProvenanceError) return []
    throw error
  }
}
