import type { DemoApi, DemoCounts } from '../demo-api.ts'
import { listAll } from './lists.ts'

interface View {
  page: string
  name: string
  query: string
}

const views: readonly View[] = [
  {
    page: 'command-center',
    name: 'Support, last 7 days',
    query: 'range=7d&archetype_id=support-agent&group_by=skill&sort=failure_rate',
  },
  {
    page: 'command-center',
    name: 'Cost by archetype and model, last 30 days',
    query: 'range=30d&group_by=archetype&across=model&measure=cost_computed',
  },
  { page: 'records', name: 'Decisions, newest first', query: 'record_type=decision&sort=-created_at' },
]

/** Saves the views of the demo, shared with everyone in the tenant. */
export async function saveViews(api: DemoApi): Promise<DemoCounts> {
  const path = '/api/v1/views'
  const present = await listAll<View>(api, path)
  const missing = views.filter((view) => !present.some(({ page, name }) => page === view.page && name === view.name))
  for (const view of missing) await api.post(path, { body: { ...view, shared: true } })
  return { written: missing.length, found: views.length - missing.length }
}
