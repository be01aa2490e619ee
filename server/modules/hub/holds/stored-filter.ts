import Value from 'typebox/value'
import { type RecordFilter, RecordFilterBody } from '../../../../contract/record-filter.ts'

/** The filter of a stored hold. One that somebody has made unreadable is over everything: it must not let anything go. */
export function filterOf(stored: unknown): RecordFilter {
  return Value.Check(RecordFilterBody, stored) ? stored : {}
}
