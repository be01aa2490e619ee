import { SegmentedControl } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Help } from '../../components/help.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ArchetypesPanel } from './archetypes-panel.tsx'
import { GroupsPanel } from './groups-panel.tsx'
import { PeoplePanel } from './people-panel.tsx'

const route = getRouteApi('/skills/roster')
const parts = [
  { value: 'people', label: 'People' },
  { value: 'groups', label: 'Groups' },
  { value: 'archetypes', label: 'Archetypes' },
]

export default function RosterPage() {
  const { tab = 'people' } = route.useSearch()
  const navigate = useNavigate({ from: '/skills/roster' })
  return (
    <>
      <PageHeader
        title="Roster"
        help={<Help term="Archetype" />}
        about="Who is there, in which groups of the directory, and which archetypes decide on the skills they may use."
      />
      <SegmentedControl
        mb="md"
        aria-label="Part of the roster that is shown"
        data={parts}
        value={tab}
        onChange={(next) => void navigate({ search: next === 'groups' || next === 'archetypes' ? { tab: next } : {} })}
      />
      {tab === 'people' && <PeoplePanel />}
      {tab === 'groups' && <GroupsPanel />}
      {tab === 'archetypes' && <ArchetypesPanel />}
    </>
  )
}
