import dayjs from 'dayjs'
import * as v from 'valibot'
import { recordTypes } from '../../contract/literals.ts'
import type { RecordFilter } from '../../contract/record-filter.ts'
import { formatTime } from '../ui/time-text.tsx'
import { looksOf } from './record-type.tsx'

const text = v.pipe(v.string(), v.trim(), v.maxLength(300, 'At most 300 characters.'))
const time = v.nullable(v.string())

/** The form values of a filter: empty texts are no condition, times are in UTC. */
export const filterValues = v.pipe(
  v.object({
    record_type: v.array(v.picklist(recordTypes)),
    skill_id: text,
    archetype_id: text,
    user_id: text,
    created_by: text,
    event_kind: text,
    created_at__gte: time,
    created_at__lt: time,
  }),
  v.forward(
    v.check(
      ({ created_at__gte: from, created_at__lt: before }) => !from || !before || dayjs(from).isBefore(before),
      'It has to be later than the beginning.',
    ),
    ['created_at__lt'],
  ),
)
export type FilterValues = v.InferOutput<typeof filterValues>

export const noFilter: FilterValues = {
  record_type: [],
  skill_id: '',
  archetype_id: '',
  user_id: '',
  created_by: '',
  event_kind: '',
  created_at__gte: null,
  created_at__lt: null,
}

/** Returns the filter for the API. */
export function filterOf({ record_type, created_at__gte, created_at__lt, ...texts }: FilterValues): RecordFilter {
  const given = Object.entries(texts).flatMap(([name, value]) => (value.trim() ? [[name, value.trim()]] : []))
  return {
    ...(record_type.length > 0 && { record_type }),
    ...Object.fromEntries(given),
    ...(created_at__gte && { created_at__gte }),
    ...(created_at__lt && { created_at__lt }),
  }
}

const names: Readonly<Record<Exclude<keyof RecordFilter, 'record_type'> | 'q', string>> = {
  q: 'search for',
  record_id: 'record',
  skill_id: 'skill',
  archetype_id: 'archetype',
  user_id: 'user',
  created_by: 'written by',
  created_at__gte: 'from',
  created_at__lt: 'before',
  event_kind: 'event kind',
}

/** a, b and c */
const lists = new Intl.ListFormat('en-GB')

/**
 * Returns a filter as text for use in a sentence: `all decisions`, or `decisions and outputs · skill hr.policy-answer`.
 */
export function describeRecordFilter({ record_type: types, ...rest }: RecordFilter & { q?: string }): string {
  const kinds = types && lists.format(types.map((type) => looksOf(type).plural.toLowerCase()))
  const parts = Object.entries(rest).map(([name, value]) => {
    const said = name.startsWith('created_at') ? formatTime(String(value)) : String(value)
    return `${names[name as keyof typeof rest]} ${said}`
  })
  if (parts.length === 0) return `all ${kinds || 'records'}`
  return [kinds || 'records', ...parts].join(' · ')
}
