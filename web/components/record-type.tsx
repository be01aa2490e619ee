import { Badge } from '@mantine/core'
import {
  IconActivity,
  IconFileText,
  IconGavel,
  IconPaperclip,
  IconQuestionMark,
  IconScale,
  IconSparkles,
  type TablerIcon,
} from '@tabler/icons-react'
import type { RecordType } from '../../contract/literals.ts'
import { titleOfEvent } from './event-titles.ts'

interface Look {
  /** The singular, for use in a sentence. */
  label: string
  plural: string
  /** The label for narrow columns. */
  short: string
  color: string
  Icon: TablerIcon
}

/** The label, icon and colour of each record type. */
export const recordTypeLooks: Readonly<Record<RecordType, Look>> = {
  output: { label: 'Output', plural: 'Outputs', short: 'Output', color: 'seal', Icon: IconFileText },
  artifact: { label: 'Artifact', plural: 'Artifacts', short: 'Artifact', color: 'blue', Icon: IconPaperclip },
  decision: { label: 'Decision', plural: 'Decisions', short: 'Decision', color: 'grape', Icon: IconScale },
  governance_event: {
    label: 'Governance event',
    plural: 'Governance events',
    short: 'Governance',
    color: 'orange',
    Icon: IconGavel,
  },
  telemetry_event: {
    label: 'Telemetry event',
    plural: 'Telemetry events',
    short: 'Telemetry',
    color: 'gray',
    Icon: IconActivity,
  },
  skill_definition: {
    label: 'Skill definition',
    plural: 'Skill definitions',
    short: 'Skill',
    color: 'indigo',
    Icon: IconSparkles,
  },
}

/** Returns the look of a type, also of an unknown type in a forged record. */
export function looksOf(type: RecordType): Look {
  return Object.hasOwn(recordTypeLooks, type)
    ? recordTypeLooks[type]
    : { label: String(type), plural: String(type), short: String(type), color: 'red', Icon: IconQuestionMark }
}

export function RecordTypeBadge({ type, isShort = false }: { type: RecordType; isShort?: boolean }) {
  const { label, short, color, Icon } = looksOf(type)
  return (
    <Badge
      variant="light"
      color={color}
      leftSection={<Icon size={13} aria-hidden />}
      // The library's own shade of text has too little contrast on some tints.
    >
      {isShort ? short : label}
    </Badge>
  )
}

/** Returns the title of a record; defaults to the label of its type. Show the id beside it. */
export function titleOfRecord(record: { record_type: RecordType; [member: string]: unknown }): string {
  const text = (member: string) => {
    const value = record[member]
    return typeof value === 'string' && value.trim() !== '' ? value : undefined
  }
  const skill = text('skill_id') && `${text('skill_id')} ${text('skill_version') ?? ''}`.trim()
  const names: Readonly<Record<RecordType, string | undefined>> = {
    output: text('title') ?? skill,
    artifact: text('title') ?? text('uri'),
    decision: text('decision_subject') ?? text('decision_id'),
    governance_event: text('event_kind') && titleOfEvent(text('event_kind')!),
    telemetry_event: skill,
    skill_definition: [text('name'), text('skill_version')].filter(Boolean).join(' ') || skill,
  }
  const { record_type: type } = record
  return (Object.hasOwn(names, type) && names[type]) || looksOf(type).label
}
