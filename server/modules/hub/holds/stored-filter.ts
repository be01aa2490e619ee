import { Compile } from 'typebox/compile'
import { type RecordFilter, RecordFilterBody } from '../../../../contract/record-filter.ts'

const form = Compile(RecordFilterBody)

/** The filter of a stored hold. One that somebody has made unreadable is over everything: it must not let anything go. */
export function filterOf(stored: unknown): RecordFilter {
  return form.Check(stored) ? stored : {}
}
