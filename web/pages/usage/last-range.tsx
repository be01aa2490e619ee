import { Button } from '@mantine/core'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import type { Filters } from '../command-center/breakdown/dimensions.ts'
import { rangeText } from '../command-center/range-text.ts'
import { customRange, type Span } from '../command-center/ranges.ts'

interface LastRangeProps {
  filters: Filters
  range: Span
  onChoose(span: Span): void
}

/** Offers the last range of the same length that has an event; nothing if there is no event at all. */
export function LastRange({ filters, range, onChoose }: LastRangeProps) {
  const { may } = useMe()
  // The newest record is one search of an index, however long ago it was stored.
  const query = { ...filters, record_type: 'telemetry_event', sort: '-created_at', limit: 1 } as const
  const { data } = api.useQuery(
    'get',
    '/api/v1/hub/records',
    { params: { query } },
    { enabled: may('queryRecords'), staleTime: 60_000 },
  )
  const lastMs = Date.parse(String(data?.records[0]?.ts))
  // The range ends behind the event: its end is exclusive.
  const span = customRange(lastMs + 1 - (range.to - range.from), lastMs + 1)
  if (!span || (range.from <= lastMs && lastMs < range.to)) return null
  return <Button variant="default" onClick={() => onChoose(span)}>{`Show ${rangeText(span)}`}</Button>
}
