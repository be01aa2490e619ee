import { Tabs } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { PageHeader } from '../../ui/page-header.tsx'
import { ArchetypesPanel } from './archetypes-panel.tsx'
import { GroupsPanel } from './groups-panel.tsx'
import { PeoplePanel } from './people-panel.tsx'

const route = getRouteApi('/onboarding/roster')

export default function RosterPage() {
  const { tab = 'people' } = route.useSearch()
  const navigate = useNavigate({ from: '/onboarding/roster' })
  return (
    <>
      <PageHeader
        title="Roster"
        about="Who is there, in which groups of the directory, and which archetypes decide on the skills they may use."
      />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => void navigate({ search: next === 'groups' || next === 'archetypes' ? { tab: next } : {} })}
      >
        <Tabs.List aria-label="Parts of the roster" mb="md">
          <Tabs.Tab value="people">People</Tabs.Tab>
          <Tabs.Tab value="groups">Groups</Tabs.Tab>
          <Tabs.Tab value="archetypes">Archetypes</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="people">
          <PeoplePanel />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <GroupsPanel />
        </Tabs.Panel>
        <Tabs.Panel value="archetypes">
          <ArchetypesPanel />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
