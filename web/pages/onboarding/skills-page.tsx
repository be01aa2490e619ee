import { Stack } from '@mantine/core'
import { PageHeader } from '../../ui/page-header.tsx'
import { PacksPanel } from './packs-panel.tsx'
import { LatestRepublish } from './republish.tsx'
import { SkillsPanel } from './skills-panel.tsx'

export default function SkillsPage() {
  return (
    <>
      <PageHeader
        title="Skills and packs"
        about="A pack registers, publishes and grants its skills at once. Published skills go to the connectors."
      />
      <Stack gap="lg">
        <PacksPanel />
        <SkillsPanel />
        <LatestRepublish />
      </Stack>
    </>
  )
}
