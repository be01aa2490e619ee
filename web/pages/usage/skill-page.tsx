import { SimpleGrid, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { useSkills } from '../../components/full-lists.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { SkillDetails } from '../skills/skill-details.tsx'
import { SkillGrants } from './grant-lists.tsx'
import { phrasesOf } from './phrases.ts'
import { UsagePage } from './usage-page.tsx'
import { UsageSection } from './usage-section.tsx'

const route = getRouteApi('/usage/skills/$skillId')

/** Shows a skill: its usage, its versions, who may use it, and decisions about it. */
export default function SkillPage() {
  const { skillId } = route.useParams()
  const { may } = useMe()
  const skills = useSkills({ enabled: may('listSkills') })
  const skill = skills.data?.find(({ skill_id }) => skill_id === skillId)
  return (
    <UsagePage
      group="skill"
      id={skillId}
      title={skill?.name ?? skillId}
      about={skill && skill.name !== skillId ? `The skill ${skillId}.` : 'A skill.'}
      words={phrasesOf([skillId, skill?.name])}
      actions={
        may('listSkills') && (
          <LinkButton size="xs" to="/skills">
            All skills
          </LinkButton>
        )
      }
    >
      {may('listSkills') && (
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <UsageSection title="State and versions">
            <QueryBoundary query={skills} what="skill">
              {() =>
                skill ? (
                  <Stack>
                    <SkillDetails skill={skill} isOwnPage />
                  </Stack>
                ) : (
                  <EmptyState title="Not registered">No registered skill has this id.</EmptyState>
                )
              }
            </QueryBoundary>
          </UsageSection>
          {may('listGrants') && <SkillGrants skillId={skillId} />}
        </SimpleGrid>
      )}
    </UsagePage>
  )
}
