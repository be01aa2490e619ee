import type { HubRecord } from '../sdk/typescript/src/index.ts'
import { terminalJson, terminalText } from './terminal-text.ts'
import { type Column, terminalWidth, textTable } from './text-table.ts'

type Members = Readonly<Record<string, unknown>>

/** Members that name a record, the first present one wins. */
const naming = ['title', 'decision_subject', 'name', 'event_kind', 'skill_id', 'uri', 'decision_id']

export const recordColumns: readonly Column<HubRecord>[] = [
  { heading: 'RECORD', value: ({ record_id }) => record_id },
  { heading: 'TYPE', value: (record) => (record as Members).record_type },
  { heading: 'CREATED', value: (record) => timeText((record as Members).created_at) },
  { heading: 'BY', value: (record) => (record as Members).created_by },
  { heading: 'NAME', value: nameOf },
]

/** Returns a table of records. */
export function recordTable(records: readonly HubRecord[]): string {
  return textTable(recordColumns, records, terminalWidth())
}

/** Returns all members of a record, one below the other. */
export function recordText(record: HubRecord): string {
  const members = Object.entries(record as Members).filter(([, value]) => value !== null && value !== undefined)
  const width = Math.max(...members.map(([name]) => name.length))
  return members
    .map(([name, value]) => `${terminalText(name).padEnd(width)}  ${valueText(value, width + 2)}`)
    .join('\n')
}

/** Returns what names a record for people; a purged one has nothing. */
export function nameOf(record: HubRecord): string | undefined {
  if (record.is_purged) return '(purged)'
  const members = record as Members
  return naming.map((name) => members[name]).find((value) => typeof value === 'string' && value.trim() !== '') as
    | string
    | undefined
}

/** Returns a time to the second, in UTC. */
function timeText(time: unknown): string {
  return typeof time === 'string' ? `${time.slice(0, 19).replace('T', ' ')}Z` : ''
}

function valueText(value: unknown, indent: number): string {
  if (typeof value === 'string') return terminalText(value)
  return terminalJson(value, 2).replaceAll('\n', `\n${' '.repeat(indent)}`)
}
