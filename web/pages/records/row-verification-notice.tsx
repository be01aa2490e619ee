import { Progress, Text } from '@mantine/core'
import type { HubRecord } from '../../api/hub-record.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { rowIdsOf } from './row-ids.ts'
import type { RowVerification } from './use-row-verification.ts'

interface RowVerificationNoticeProps {
  verification: RowVerification
  rows: readonly HubRecord[]
}

/** Shows the result of verifying the loaded rows, and whether the Hub's verdict agrees. */
export function RowVerificationNotice({ verification, rows }: RowVerificationNoticeProps) {
  const { verdicts, asked, running, problems, error } = verification
  if (error !== null) return <ProblemNotice error={error} title="The rows were not verified" />
  if (asked === undefined) return null
  if (running) {
    return (
      <Notice kind="info" title={`Verifying ${formatCount(asked)} rows in this browser …`}>
        <Progress w="100%" value={(100 * verdicts.size) / Math.max(1, asked)} aria-label="Rows verified" />
      </Notice>
    )
  }
  const isGone = (row: HubRecord) => {
    const verdict = verdicts.get(row)
    return verdict?.verified === false && verdict.isGone === true
  }
  const gone = rows.filter(isGone)
  const bad = rows.filter((row) => verdicts.get(row)?.verified === false && !isGone(row))
  const idOf = rowIdsOf(bad)
  const denied = bad.filter(({ verification: word }) => word?.verified === true)
  if (bad.length === 0 && problems.length === 0 && gone.length > 0) {
    return (
      <Notice
        kind="warning"
        title={`${formatCount(gone.length)} of ${formatCount(verdicts.size)} rows have no content`}
        urgent
      >
        Their content is gone with the key of the tenant, so this browser cannot compute their hashes. Their place in
        the seal and its signature are good, and the other rows are genuine.
      </Notice>
    )
  }
  if (bad.length === 0 && problems.length === 0) {
    return (
      <Notice kind="good" title={`All ${formatCount(verdicts.size)} rows are genuine`} urgent>
        Hash, place in the seal and signature of each were computed in this browser. Whether their seals are in the log
        is verified in the details of each.
      </Notice>
    )
  }
  const title =
    bad.length > 0
      ? `${formatCount(bad.length)} of ${formatCount(verdicts.size)} rows are tampered with`
      : 'The keys of the log'
  return (
    <Notice kind="tampered" title={title} urgent>
      {bad.slice(0, 5).map((row) => {
        const verdict = verdicts.get(row)
        return (
          <Text key={idOf(row)} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {row.record_id}: {verdict?.verified === false && verdict.because}
          </Text>
        )
      })}
      {bad.length > 5 && <Text size="sm">{`and ${formatCount(bad.length - 5)} more, marked in the table.`}</Text>}
      {denied.length > 0 && (
        <Text size="sm" fw={700}>
          {`The Hub says “verified” of ${formatCount(denied.length)} of them. Believe this browser, and tell the operator by another way.`}
        </Text>
      )}
      {problems.map((problem) => (
        <Text key={problem} size="sm">
          {problem}
        </Text>
      ))}
      <Text size="sm">Open one to see which step failed and what to do.</Text>
    </Notice>
  )
}
