import { Stack } from '@mantine/core'
import { useSkills } from '../../components/full-lists.ts'
import { Help } from '../../components/help.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { LatestRepublish } from '../connectors/republish.tsx'
import { PacksPanel, usePacks } from './packs-panel.tsx'
import { SkillsPanel } from './skills-panel.tsx'

export default function SkillsPage() {
  const packs = usePacks()
  const skills = useSkills()
  return (
    <>
      <PageHeader
        title="Skills and packs"
        help={<Help term="Pack" />}
        about="A pack registers, publishes and grants its skills at once. Published skills go to the connectors."
      />
      <Stack gap="lg">
        <PacksPanel />
        {/* Each part waits for the one above it, so that nothing moves. */}
        {!packs.isPending && <SkillsPanel />}
        {!packs.isPending && skills.data?.some(({ state }) => state === 'published') && <LatestRepublish />}
      </Stack>
    </>
  )
}
