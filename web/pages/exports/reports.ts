import type { RecordType } from '../../../contract/literals.ts'
import type { ExportsSearch } from './exports-search.ts'

interface Report {
  label: string
  needs: 'createExport' | 'createEvidencePack'
  /** The type of its records, which the user must be able to see. */
  type?: RecordType
  search: ExportsSearch
}

const dayMs = 86_400_000

/** Returns reports that many need, each as the address of a filled form. Periods are those of the user's time zone. */
export function reportsAt(now: Date): Report[] {
  const startOfMonth = (months: number) => new Date(now.getFullYear(), now.getMonth() + months, 1).toISOString()
  const intoQuarter = now.getMonth() % 3
  const between = (created_at__gte: string, created_at__lt?: string) => ({ created_at__gte, created_at__lt })
  const [create, needs] = ['1', 'createExport'] as const
  return [
    {
      ...{ label: 'Decisions of last month', needs, type: 'decision' },
      search: { create, record_type: 'decision', ...between(startOfMonth(-1), startOfMonth(0)) },
    },
    {
      ...{ label: 'Telemetry of the last 30 days as CSV', needs, type: 'telemetry_event' },
      search: {
        ...{ create, record_type: 'telemetry_event', format: 'csv' },
        ...between(new Date(now.getTime() - 30 * dayMs).toISOString()),
      },
    },
    {
      ...{ label: 'Evidence pack of the last quarter', needs: 'createEvidencePack' },
      search: { create: 'pack', ...between(startOfMonth(-intoQuarter - 3), startOfMonth(-intoQuarter)) },
    },
  ]
}
