import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import { pollEvery } from '../../components/polling.ts'
import type { Filters } from './breakdown/dimensions.ts'

/** The shown members of a telemetry event; the record has the others. */
export interface LiveEvent extends HubRecord {
  ts: string
  skill_id: string
  user_id: string
  llm_platform: string
  llm_model?: string
  latency_ms: number
  cost_usd_estimate: number
  cost_usd_computed?: number
  success: boolean
  error_code?: string
}

/** Milliseconds between two polls, so that a stored event appears within two seconds. */
const everyMs = 1000
export const newest = 30

/** Returns the query for the newest events, with the filters that have an index: it is sent every second. */
export function queryOf({ skill_id, archetype_id, user_id }: Filters) {
  const known = { ...(skill_id && { skill_id }), ...(archetype_id && { archetype_id }), ...(user_id && { user_id }) }
  return { record_type: 'telemetry_event', sort: '-created_at', ...known } as const
}

/** Returns a check by platform and model. The query API would scan for each of them. */
export function isOfPlatformAndModel({ llm_platform, llm_model }: Filters) {
  return (event: LiveEvent) =>
    (llm_platform === undefined || event.llm_platform === llm_platform) &&
    (llm_model === undefined || event.llm_model === llm_model)
}

/**
 * Returns the newest events, polled while the page is visible. After a rate limit the client waits as long as the Hub
 * requests, and polling slows down.
 */
export function useLiveEvents(filters: Filters, isLive: boolean) {
  const query = { ...queryOf(filters), limit: newest }
  const isShown = isOfPlatformAndModel(filters)
  return api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    {
      staleTime: 0,
      ...pollEvery(everyMs, isLive),
      select: ({ records }) =>
        (records as unknown as LiveEvent[]).filter((event) => !event.is_purged && isShown(event)),
    },
  )
}
