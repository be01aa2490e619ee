import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { TenantTx } from '../../db/database.ts'
import type { RepublishResult } from './distribution-types.ts'
import { changeRepublish, lockOpenRepublish, type RepublishRow } from './republish-store.ts'

/** Records a connector's result in the running republication, if there is one. Only its first result counts. */
export async function reached(tx: TenantTx, result: RepublishResult): Promise<void> {
  const row = await lockOpenRepublish(tx)
  if (!row || row.done >= row.total) return
  if (row.results.some((known) => known.connector_id === result.connector_id)) return
  await changeRepublish(tx, withResult(row, result))
}

function withResult(row: RepublishRow, result: RepublishResult) {
  const now = formatTimestamp(Date.now())
  const results = [...row.results, result]
  const done = row.done + 1
  const begun = { ...row, done, results, started_at: row.started_at ?? now }
  return done < row.total ? { ...begun, status: 'running' as const } : ended(begun, now)
}

/** Returns the ended republication. It failed if no connector was reached. */
export function ended<Row extends Pick<RepublishRow, 'results'>>(row: Row, now: string) {
  const failed = row.results.filter(({ status }) => status === 'failed').length
  const isFailed = failed > 0 && !row.results.some(({ status }) => status === 'published')
  const detail = isFailed
    ? 'No connector accepted the skills; `results` states why. Fix them and republish.'
    : `${failed} of the connectors did not accept the skills; \`results\` states why. The Hub retries them.`
  return {
    ...row,
    status: isFailed ? ('failed' as const) : ('completed' as const),
    finished_at: now,
    error: failed > 0 ? { detail } : null,
  }
}
