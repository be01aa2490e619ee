import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { formatCount } from '../../ui/formats.ts'
import type { Filters } from './breakdown/dimensions.ts'
import { aheadMs, isoOf, type Span } from './ranges.ts'
import { isOfPlatformAndModel, type LiveEvent, queryOf } from './use-live-events.ts'

/** Number of the skill's newest events that are read; a busy skill has more. */
const eventsRead = 1000
const codesShown = 3

interface ErrorCodesProps {
  skillId: string
  span: Span
  filters: Filters
  /** The number of failures in the metrics. */
  failures: number
}

/** Shows the error codes of a skill's failures in a range, the most frequent first, for roles that may read records. */
export function ErrorCodes({ skillId, span, filters, failures }: ErrorCodesProps) {
  const query = {
    ...queryOf({ ...filters, skill_id: skillId }),
    created_at__gte: isoOf(span.from - aheadMs),
    limit: eventsRead,
  }
  const events = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    { enabled: useMe().may('queryRecords'), staleTime: 60_000 },
  )
  const records = (events.data?.records ?? []) as unknown as LiveEvent[]
  const codes = errorCodesOf(records.filter(isOfPlatformAndModel(filters)), span)
  if (codes.length === 0) return null
  const shown = codes.slice(0, codesShown).map(([code, count]) => `${code} (${formatCount(count)})`)
  const found = codes.reduce((sum, [, count]) => sum + count, 0)
  const part = found < failures ? ` of the newest ${formatCount(found)} failures` : ''
  return <div>{`Error codes${part}: ${shown.join(', ')}${codes.length > codesShown ? ', …' : ''}`}</div>
}

function errorCodesOf(events: readonly LiveEvent[], { from, to }: Span): [code: string, count: number][] {
  const failed = events.filter(({ success, ts }) => success === false && Date.parse(ts) >= from && Date.parse(ts) < to)
  const counts = Map.groupBy(failed, ({ error_code }) => error_code ?? 'no code')
  return [...counts]
    .map(([code, found]): [string, number] => [code, found.length])
    .sort(([, one], [, other]) => other - one)
}
