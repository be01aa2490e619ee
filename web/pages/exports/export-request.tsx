import { Group, Skeleton, Text } from '@mantine/core'
import { ActorName } from '../../components/actor-name.tsx'
import { describeRecordFilter } from '../../components/record-filter.ts'
import { type ExportJob, isUnderWay } from './export-job.ts'
import { type ExportRequest, useExportRequests } from './use-export-requests.ts'

/**
 * Returns the request of an export.
 * @returns null if it is unknown; undefined while loading
 */
export function useExportRequest(job: ExportJob): ExportRequest | null | undefined {
  const orders = useExportRequests([job], isUnderWay(job) ? 5000 : Number.POSITIVE_INFINITY)
  return orders === undefined ? undefined : (orders.get(job.job_id) ?? null)
}

/** Shows the request. Reserves the space while it loads, so that nothing below moves. */
export function ExportRequestForm({ order }: { order: ExportRequest | null | undefined }) {
  if (order === null) return null
  return (
    <Text size="sm" component="div" mih="2.9em" lineClamp={2}>
      {order ? (
        <>
          {`Of ${describeRecordFilter(order.filter)}, requested by `}
          <ActorName id={order.actor} />.
        </>
      ) : (
        <Group gap="sm" aria-hidden>
          <Skeleton height={14} w="60%" mt={4} />
        </Group>
      )}
    </Text>
  )
}
