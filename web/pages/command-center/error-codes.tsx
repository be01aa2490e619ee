import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { formatCount } from '../../ui/formats.ts'
import { type Filters, recordsOf } from './breakdown/dimensions.ts'
import { isoOf, type Span } from './ranges.ts'
import { rowsPerPage } from './use-metrics.ts'

const codesShown = 3

interface ErrorCodesProps {
  skillId: string
  span: Span
  filters: Filters
}

/**
 * Shows the error codes of a skill's failures in a range, the most frequent first, each with a link to its records. It
 * shows nothing for a range that includes failures from before the Hub counted by error code.
 */
export function ErrorCodes({ skillId, span, filters }: ErrorCodesProps) {
  const { may } = useMe()
  const [from, to] = [isoOf(span.from), isoOf(span.to)]
  const ofSkill = { ...filters, skill_id: skillId }
  const query = { ...ofSkill, from, to, group_by: 'error_code' as const, limit: rowsPerPage }
  const summary = api.useQuery('get', '/api/v1/telemetry/summary', { params: { query } }, { staleTime: 60_000 })
  const codes = (summary.data?.rows ?? []).toSorted((one, other) => other.failures - one.failures)
  if (codes.length === 0) return null
  return (
    <div>
      Error codes:{' '}
      {codes.slice(0, codesShown).map(({ key, failures }, index) => {
        const code = key ?? 'no code'
        const search = { ...recordsOf(ofSkill, from, to), success: 'false', ...(key && { error_code: key }) }
        return (
          <Fragment key={code}>
            {index > 0 && ', '}
            {may('queryRecords') ? (
              <Anchor component={Link} to={`/records?${new URLSearchParams(search)}`} inherit>
                {code}
              </Anchor>
            ) : (
              code
            )}
            {` (${formatCount(failures)})`}
          </Fragment>
        )
      })}
      {codes.length > codesShown && ', …'}
    </div>
  )
}
