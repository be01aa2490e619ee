import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { formatCount } from '../../ui/formats.ts'
import type { Span } from './ranges.ts'
import type { LiveEvent } from './use-live-events.ts'

/** Newest events of the skill that are read; a busy skill has more. */
const eventsRead = 200
const codesShown = 3

/** The error codes of a skill's failures in a range, the most frequent first, for roles that may read records. */
export function ErrorCodes({ skillId, span }: { skillId: string; span: Span }) {
  const events = api.useQuery(
    'get',
    '/api/v1/hub/records',
    {
      params: {
        query: { record_type: 'telemetry_event', skill_id: skillId, sort: '-created_at', limit: eventsRead },
      },
    },
    { enabled: useMe().may('queryRecords'), staleTime: 60_000 },
  )
  const codes = errorCodesOf((events.data?.records ?? []) as unknown as LiveEvent[], span)
  if (codes.length === 0) return null
  const shown = codes.slice(0, codesShown).map(([code, count]) => `${code} (${formatCount(count)})`)
  return <div>{`Error codes of its newest events: ${shown.join(', ')}${codes.length > codesShown ? ', …' : ''}`}</div>
}

function errorCodesOf(events: readonly LiveEvent[], { from, to }: Span): [code: string, count: number][] {
  const failed = events.filter(({ success, ts }) => success === false && Date.parse(ts) >= from && Date.parse(ts) < to)
  const counts = Map.groupBy(failed, ({ error_code }) => error_code ?? 'no code')
  return [...counts]
    .map(([code, found]): [string, number] => [code, found.length])
    .sort(([, one], [, other]) => other - one)
}
