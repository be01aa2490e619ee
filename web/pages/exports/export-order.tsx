import { Text } from '@mantine/core'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/hub.ts'
import { useMe } from '../../api/me.ts'
import { ActorName } from '../../components/actor-name.tsx'
import { filterInWords } from '../../components/record-filter.ts'
import { type ExportJob, isUnderWay } from './export-job.ts'

interface Order {
  filter: RecordFilter
  actor: string
}

const searchedMs = 60_000

/**
 * What was ordered and by whom: the job does not say it, its governance event does, to those who see such events.
 *
 * @returns null where it is not known; undefined while it is being asked for
 */
export function useOrder(job: ExportJob): Order | null | undefined {
  const { scopes } = useMe()
  const created = new Date(job.created_at).getTime()
  const isSeen = canSee(scopes, 'governance_event')
  const { data, isLoading } = api.useQuery(
    'get',
    '/api/v1/hub/records',
    {
      params: {
        query: {
          event_kind: 'hub.export_created',
          created_at__gte: new Date(created - 1000).toISOString(),
          created_at__lt: new Date(created + searchedMs).toISOString(),
          limit: 100,
        },
      },
    },
    { enabled: isSeen, staleTime: isUnderWay(job) ? 5000 : Number.POSITIVE_INFINITY },
  )
  const event = data?.records.find(({ subject }) => subject === `export:${job.job_id}`)
  const details = event?.details as { filter?: RecordFilter; actor?: string } | undefined
  if (!details) return isLoading ? undefined : null
  return { filter: details.filter ?? {}, actor: details.actor ?? '' }
}

/** Two lines, whether it is known yet or not: what stands below does not move as it becomes known. */
export function ExportOrder({ order }: { order: Order | null | undefined }) {
  if (order === null) return null
  return (
    <Text size="sm" mih="2.9em" lineClamp={2}>
      {order && (
        <>
          {`Of ${filterInWords(order.filter)}, ordered by `}
          <ActorName id={order.actor} />.
        </>
      )}
    </Text>
  )
}
