import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { addressOf, CellLink } from '../../components/cell-link.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { formatCount, formatPercent } from '../../ui/formats.ts'
import { AllWell, AttentionCard, AttentionList } from '../command-center/attention-card.tsx'
import { type Filters, recordsOf } from '../command-center/breakdown/dimensions.ts'
import { isoOf, type Span } from '../command-center/ranges.ts'
import { rowsPerPage } from '../command-center/use-metrics.ts'

interface ErrorCodesCardProps {
  filters: Filters
  range: Span
  /** All failures of the range. */
  failures: number
}

/** Lists the error codes of failures, the most frequent first, each with a link to its records. */
export function ErrorCodesCard({ filters, range, failures }: ErrorCodesCardProps) {
  const { may } = useMe()
  const [from, to] = [isoOf(range.from), isoOf(range.to)]
  const query = { ...filters, from, to, group_by: 'error_code' as const, limit: rowsPerPage }
  const summary = api.useQuery('get', '/api/v1/telemetry/summary', { params: { query } }, { staleTime: 60_000 })
  return (
    <AttentionCard title="Error codes" rule="Of the failures in this range, the most frequent first.">
      <QueryBoundary query={summary} what="error codes">
        {({ rows }) => {
          const codes = rows.filter((row) => row.failures > 0)
          if (failures === 0) return <AllWell>No invocation failed.</AllWell>
          if (codes.length === 0) return <span>The failures of this range were not counted by error code.</span>
          return (
            <AttentionList
              items={codes
                .toSorted((one, other) => other.failures - one.failures)
                .map(({ key, failures: count }) => {
                  const name = key ?? 'No code'
                  const search = { ...recordsOf(filters, from, to), success: 'false', ...(key && { error_code: key }) }
                  return {
                    id: name,
                    name: may('queryRecords') ? <CellLink href={addressOf('/records', search)}>{name}</CellLink> : name,
                    said: `${formatPercent(count / failures)} of failures`,
                    figure: formatCount(count),
                  }
                })}
            />
          )
        }}
      </QueryBoundary>
    </AttentionCard>
  )
}
