import type { RecordType } from '../../../contract/literals.ts'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import type { FilterName } from './record-query.ts'
import type { ranges } from './records-search.ts'

export const rangeNames: Record<(typeof ranges)[number], string> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  week: 'This week',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
}

const names: Record<FilterName, string> = {
  record_type: 'Type',
  record_id: 'Record',
  skill_id: 'Skill',
  archetype_id: 'Archetype',
  user_id: 'User',
  created_by: 'Created by',
  event_kind: 'Event kind',
  created_at__gte: 'From',
  created_at__lt: 'Before',
  within: 'Created',
  include_purged: 'With purged',
  llm_platform: 'Platform',
  llm_model: 'Model',
  success: 'Result',
  error_code: 'Error code',
  latency_ms__gte: 'Latency from',
  latency_ms__lte: 'Latency to',
  cost_usd__gte: 'Cost from',
  cost_usd__lte: 'Cost to',
  session_id: 'Session',
  trace_id: 'Trace',
}

/** Returns the text of a filter's chip. */
export function describeFilter(name: FilterName, value: string): string {
  if (name === 'include_purged') return 'Include purged'
  if (name === 'record_type') return `${names.record_type}: ${recordTypeLooks[value as RecordType].label}`
  if (name === 'success') return value === 'true' ? 'Succeeded' : 'Failed'
  if (name.startsWith('latency_ms')) return `${names[name]}: ${value} ms`
  if (name.startsWith('cost_usd')) return `${names[name]}: $${value}`
  if (name === 'within') return `${names.within}: ${rangeNames[value as keyof typeof rangeNames].toLowerCase()}`
  return `${names[name]}: ${name.startsWith('created_at') ? formatTime(value) : value}`
}

/** Returns the name of a filter for use in a sentence. */
export function nameOfFilter(name: FilterName): string {
  return names[name].toLowerCase()
}
