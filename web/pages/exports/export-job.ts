import type { RecordFilter } from '../../../contract/record-filter.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import type { ExportsSearch } from './exports-search.ts'

export type ExportJob = ApiResponse<'getExport'>
export type ExportFormat = ExportJob['format']

export const pollMs = 1500
/** The polling interval in milliseconds if each poll reads several pages of the list. */
export const pollManyMs = 15_000

export const formats: readonly { value: ExportFormat; label: string; about: string }[] = [
  {
    value: 'jsonl',
    label: 'JSON Lines',
    about: 'A record on each line, as the API answers it. For archives and proof.',
  },
  { value: 'csv', label: 'CSV', about: 'A column for each member. For spreadsheets.' },
  { value: 'parquet', label: 'Parquet', about: 'Columns, compressed. For DuckDB, pandas and warehouses.' },
]

/** Returns the name of the format, or of an evidence pack. */
export function formatLabel({
  format,
  evidence_pack,
}: Pick<ExportJob, 'format' | 'evidence_pack'>): string | undefined {
  return evidence_pack ? 'Evidence pack' : formats.find(({ value }) => value === format)?.label
}

export function isUnderWay({ status }: Pick<ExportJob, 'status'>): boolean {
  return status === 'queued' || status === 'running'
}

/** Returns the expiry of the files' addresses, which contain it in seconds since 1970. */
export function goodUntil({ download_url }: Pick<ExportJob, 'download_url'>): string | undefined {
  if (!download_url) return undefined
  const seconds = Number(new URL(download_url).searchParams.get('expires'))
  return seconds > 0 ? new Date(seconds * 1000).toISOString() : undefined
}

export function fileNameIn(address: string): string {
  return new URL(address).pathname.split('/').at(-1) ?? 'export'
}

/** Returns page parameters that request the same export again. */
export function orderAgain(format: ExportFormat, { record_type, ...filter }: RecordFilter = {}): ExportsSearch {
  return { create: '1', format, ...filter, ...(record_type && { record_type: record_type.join(',') }) }
}
