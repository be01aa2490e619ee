import type { DemoApi, DemoOptions } from '../demo-api.ts'
import { type DemoPeriod, periodEnding } from '../period.ts'
import { queryAll, type StoredRecord } from './lists.ts'

const markerTitle = 'Demo data: when it starts and ends, and what is made up'

interface MarkerContent {
  ends_at: string
  time_zone: string
}

/** The period of the demo, and the time since which its records are written. */
export interface Marked {
  period: DemoPeriod
  writtenSince: string
  /** True if an earlier load has written the marker. */
  isRepeat: boolean
}

/** Finds or writes the record that stores the start and end of the demo. */
export async function markPeriod(api: DemoApi, options: DemoOptions, invocations: number): Promise<Marked> {
  const artifacts = await queryAll(api, { record_type: 'artifact', include_purged: true })
  const marker = artifacts.find(({ title }) => title === markerTitle)
  if (marker) return { ...markedBy(marker), isRepeat: true }
  const { now = new Date(), timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } = options
  const { record_id } = await api.post<{ record_id: string }>('/api/v1/hub/records', {
    body: markerBody(periodEnding(now, timeZone), invocations),
  })
  return { ...markedBy(await api.get<StoredRecord>(`/api/v1/hub/records/${record_id}`)), isRepeat: false }
}

function markedBy({ content, created_at }: StoredRecord): Omit<Marked, 'isRepeat'> {
  const { ends_at, time_zone } = content as MarkerContent
  return { period: periodEnding(new Date(ends_at), time_zone), writtenSince: created_at }
}

function markerBody({ startMs, endMs, timeZone }: DemoPeriod, invocations: number) {
  return {
    record_type: 'artifact',
    title: markerTitle,
    media_type: 'text/csv',
    uri: 'https://github.com/Azure/AzurePublicDataset',
    content: {
      starts_at: new Date(startMs).toISOString(),
      ends_at: new Date(endMs).toISOString(),
      time_zone: timeZone,
      invocations,
      source: 'Azure LLM Inference Dataset 2023, conversation trace, CC-BY 4.0: one hour, laid over 30 days',
      recorded: ['order', 'spacing within a quarter of an hour', 'tokens_in', 'tokens_out'],
      made_up: [
        ...['company', 'people', 'skills', 'platforms', 'models', 'success', 'error codes', 'latency', 'cost'],
        ...['days and hours', 'outputs', 'artifacts', 'decisions'],
      ],
    },
  }
}
