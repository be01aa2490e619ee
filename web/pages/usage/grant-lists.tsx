import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Grant, useGrants } from '../../components/full-lists.ts'
import { LinkText } from '../../components/link-text.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { AttentionList } from '../command-center/attention-card.tsx'
import { UsageSection } from './usage-section.tsx'

/** Lists the archetypes that may use a skill. */
export function SkillGrants({ skillId }: { skillId: string }) {
  return (
    <GrantList title="Who may use it" of={{ skill_id: skillId }} none="Nobody: it is granted to no archetype.">
      {({ archetype_id: id }) => ({
        id,
        name: <UsageLink group="archetype" id={id} />,
        said: 'People of this archetype',
      })}
    </GrantList>
  )
}

/** Lists the skills that an archetype may use. */
export function ArchetypeGrants({ archetypeId }: { archetypeId: string }) {
  return (
    <GrantList title="Skills it may use" of={{ archetype_id: archetypeId }} none="None: no skill is granted to it.">
      {({ skill_id: id }) => ({ id, name: <UsageLink group="skill" id={id} />, said: '' })}
    </GrantList>
  )
}

interface GrantListProps {
  title: string
  of: { archetype_id?: string; skill_id?: string }
  /** Shown if there are no grants. */
  none: string
  /** The entry of a grant. */
  children(grant: Grant): { id: string; name: ReactNode; said: ReactNode }
}

function GrantList({ title, of, none, children }: GrantListProps) {
  const grants = useGrants(of)
  const search = { ...(of.skill_id && { skill: of.skill_id }), ...(of.archetype_id && { archetype: of.archetype_id }) }
  const more = (
    <LinkText to="/skills/grants" search={search} size="sm">
      Open grants
    </LinkText>
  )
  return (
    <UsageSection title={title} more={more}>
      <QueryBoundary query={grants} what="grants">
        {(items) =>
          items.length === 0 ? <Text size="sm">{none}</Text> : <AttentionList items={items.map(children)} />
        }
      </QueryBoundary>
    </UsageSection>
  )
}
