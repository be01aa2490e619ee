import { api } from '../../api/api-client.ts'
import type { HubRecord } from '../../api/hub-record.ts'
import type { Filters } from './breakdown/dimensions.ts'
import { pollEvery } from './polling.ts'

/** What is shown of a telemetry event; its other members are in the record. */
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

/** Between two looks, so that what is stored is seen within two seconds. */
const everyMs = 1000
export const newest = 30

/** The newest events first, by the filters that the query API knows. */
export function queryOf({ skill_id, archetype_id, user_id }: Filters) {
  const known = { ...(skill_id && { skill_id }), ...(archetype_id && { archetype_id }), ...(user_id && { user_id }) }
  return { record_type: 'telemetry_event', sort: '-created_at', ...known } as const
}

/** Returns a check by platform and model, which the query API has no filters for. */
export function isOfPlatformAndModel({ llm_platform, llm_model }: Filters) {
  return (event: LiveEvent) =>
    (llm_platform === undefined || event.llm_platform === llm_platform) &&
    (llm_model === undefined || event.llm_model === llm_model)
}

/**
 * The newest events, asked for again while the page is in view. The client waits as long as the Hub asks it to where
 * there were too many requests, and this goes slower then.
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
