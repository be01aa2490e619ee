import { Badge } from '@mantine/core'
import { IconArchive, IconCheck, IconCircleOff, IconPencil } from '@tabler/icons-react'
import type { Skill } from '../../components/full-lists.ts'

export type SkillState = Skill['state']

/** The meaning of each state, and the possible next states. */
export const skillStates: Record<
  SkillState,
  { label: string; means: string; color: string; Icon: typeof IconCheck; next: SkillState[] }
> = {
  draft: {
    label: 'Draft',
    means: 'Not distributed, and nobody may use it yet.',
    color: 'blue',
    Icon: IconPencil,
    next: ['published'],
  },
  published: {
    label: 'Published',
    means: 'Distributed to the connectors; those to whom it is granted may use it.',
    color: 'seal',
    Icon: IconCheck,
    next: ['deprecated'],
  },
  deprecated: {
    label: 'Deprecated',
    means:
      'Distributed no more. Those to whom it is granted may still use it, and checks say that it is on its way out.',
    color: 'orange',
    Icon: IconArchive,
    next: ['published', 'retired'],
  },
  retired: {
    label: 'Retired',
    means: 'Nobody may use it, and telemetry and outputs that name it are refused. Nothing comes back from here.',
    color: 'gray',
    Icon: IconCircleOff,
    next: [],
  },
}

export const transitionVerbs: Record<SkillState, string> = {
  draft: 'Draft',
  published: 'Publish',
  deprecated: 'Deprecate',
  retired: 'Retire',
}

export function SkillStateBadge({ state }: { state: SkillState }) {
  const { label, color, Icon } = skillStates[state]
  return (
    <Badge variant="light" color={color} leftSection={<Icon size={13} aria-hidden />}>
      {label}
    </Badge>
  )
}
