import { keepPreviousData } from '@tanstack/react-query'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import type { ExportJob } from './export-job.ts'

export interface ExportRequest {
  filter: RecordFilter
  actor: string
}

const beforeMs = 1000
/** Milliseconds by which the event of a request may be later than the request. */
const searchedMs = 60_000
const readAtMost = 1000

/**
 * Returns export requests with their requester, by id of the job. The jobs lack them, but governance events contain
 * them, for users who may see such events. Reads the newest thousand events.
 *
 * @param jobs latest first
 * @returns undefined while loading; empty for users who may not see the events
 */
export function useExportRequests(jobs: readonly Pick<ExportJob, 'job_id' | 'created_at'>[], staleTime: number) {
  const { scopes } = useMe()
  const [newest, oldest] = [jobs[0], jobs.at(-1)]
  const isAsked = canSee(scopes, 'governance_event') && newest !== undefined
  const time = (job: Pick<ExportJob, 'created_at'> | undefined, ms: number) =>
    new Date((job ? new Date(job.created_at).getTime() : 0) + ms).toISOString()
  const { data, isLoading } = api.useQuery(
    'get',
    '/api/v1/hub/records',
    {
      params: {
        query: {
          event_kind: 'hub.export_created',
          created_at__gte: time(oldest, -beforeMs),
          created_at__lt: time(newest, searchedMs),
          sort: '-created_at',
          limit: readAtMost,
        },
      },
    },
    { enabled: isAsked, staleTime, placeholderData: keepPreviousData },
  )
  if (isAsked && isLoading) return undefined
  return new Map<string, ExportRequest>(
    data?.records.flatMap(({ subject, details }) => {
      const { filter = {}, actor = '' } = (details ?? {}) as Partial<ExportRequest>
      return typeof subject === 'string' ? [[subject.replace(/^export:/, ''), { filter, actor }]] : []
    }),
  )
}
