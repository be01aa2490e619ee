import type { BenchHub, BenchTenant } from './bench-hub.ts'
import { archetypeIds, skillIds } from './sample-events.ts'

export interface PageQuery {
  name: string
  path: string
}

interface Page {
  records: { record_id: string; created_at: string; created_by: string }[]
  next_cursor: string | null
}

const pageSize = 50
const depth = 20
const eventKind = 'custom.bench'

/** Returns pages of 50 records by each filter and order. The tenant must have some thousand events. */
export async function pageQueries(hub: BenchHub, tenant: BenchTenant): Promise<PageQuery[]> {
  const get = async (query: string) => {
    const response = await fetch(`${hub.url}${pathOf(query)}`, { headers: await tenant.headers() })
    if (!response.ok) throw new Error(`${query}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Page
  }
  const newest = (await get('record_type=telemetry_event&sort=-created_at')).records
  const [first] = newest
  const queries = {
    'no filter': '',
    record_type: 'record_type=telemetry_event',
    skill_id: `skill_id=${skillIds[3]}`,
    archetype_id: `archetype_id=${archetypeIds[2]}`,
    user_id: 'user_id=user:person-3@example.com',
    created_by: `created_by=${encodeURIComponent(first!.created_by)}`,
    event_kind: `event_kind=${eventKind}`,
    'created_at from, before': `created_at__gte=${newest.at(-1)!.created_at}&created_at__lt=${first!.created_at}`,
    'skill_id and user_id': `skill_id=${skillIds[0]}&user_id=user:person-0@example.com`,
    'newest first': 'sort=-created_at',
    'cost, cheapest first': 'sort=cost_usd_estimate',
    'cost, dearest first': 'sort=-cost_usd_estimate',
    'skill_id by cost': `skill_id=${skillIds[3]}&sort=-cost_usd_estimate`,
    [`page ${depth + 1}`]: `cursor=${await cursorAt(get, depth)}`,
  }
  return Object.entries(queries).map(([name, query]) => ({ name, path: pathOf(query) }))
}

/** Writes enough governance events for a page. */
export async function writeOwnEvents(hub: BenchHub, tenant: BenchTenant): Promise<void> {
  for (let at = 0; at < pageSize; at++) {
    const response = await fetch(`${hub.url}/api/v1/hub/records`, {
      method: 'POST',
      headers: await tenant.headers(),
      body: JSON.stringify({ record_type: 'governance_event', event_kind: eventKind }),
    })
    if (!response.ok) throw new Error(`no governance event: ${response.status} ${await response.text()}`)
  }
}

async function cursorAt(get: (query: string) => Promise<Page>, pages: number): Promise<string> {
  let cursor: string | null = null
  for (let at = 0; at < pages; at++) {
    cursor = (await get(cursor === null ? '' : `cursor=${cursor}`)).next_cursor
    if (cursor === null) throw new Error(`there are no ${pages} pages`)
  }
  return cursor!
}

function pathOf(query: string): string {
  return `/api/v1/hub/records?limit=${pageSize}${query === '' ? '' : `&${query}`}`
}
