import { Group, Stack, Text, Title } from '@mantine/core'
import { IconSparkles } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type Skill, useSkills } from '../../components/full-lists.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { SkillDetails } from './skill-details.tsx'
import { SkillStateBadge } from './skill-states.tsx'

const route = getRouteApi('/skills')

const column = columnsOf<Skill>()
const skillColumns = column.columns([
  column.accessor('skill_id', { header: 'Skill', size: 170, meta: { grow: true } }),
  column.accessor('name', { header: 'Name', size: 220, meta: { from: 'sm' } }),
  column.accessor('state', {
    header: 'State',
    size: 140,
    cell: ({ getValue }) => <SkillStateBadge state={getValue()} />,
  }),
  column.accessor((skill) => skill.versions.at(-1)?.skill_version, {
    id: 'version',
    header: 'Newest',
    size: 110,
    meta: { from: 'md' },
  }),
  column.accessor((skill) => skill.versions.length, {
    id: 'versions',
    header: 'Versions',
    size: 100,
    meta: { from: 'md', align: 'right' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor('updated_at', {
    header: 'Changed',
    size: 150,
    meta: { from: 'lg' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
])

/** Shows registered skills with their states. */
export function SkillsPanel() {
  const { skill: openId, search = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/skills' })
  const skills = useSkills()
  const shown = skills.data?.find(({ skill_id }) => skill_id === openId)
  const wanted = search.toLowerCase()
  return (
    <section aria-labelledby="skills">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="skills">
          Skills
        </Title>
        {skills.data?.length !== 0 && (
          <SearchField
            aria-label="Part of the id or name"
            placeholder="Id or name"
            maxLength={128}
            value={search}
            onSearch={(text) => void navigate({ search: (before) => ({ ...before, search: text }), replace: true })}
          />
        )}
      </Group>
      <QueryBoundary query={skills} what="skills">
        {(all) => {
          const rows = wanted
            ? all.filter(({ skill_id, name }) => `${skill_id} ${name}`.toLowerCase().includes(wanted))
            : all
          if (all.length === 0) {
            return (
              <EmptyState title="No skills yet" icon={IconSparkles}>
                Skills are registered by applying a pack, or by writing skill_definition records.
              </EmptyState>
            )
          }
          if (rows.length === 0) return <Text size="sm">No skill has this in its id or name.</Text>
          return (
            <DataTable
              label="Skills"
              rows={rows}
              columns={skillColumns}
              rowId={({ skill_id }) => skill_id}
              openId={openId}
              onOpen={({ skill_id }) => void navigate({ search: (before) => ({ ...before, skill: skill_id }) })}
              maxHeight="32rem"
            />
          )
        }}
      </QueryBoundary>
      <SidePanel
        opened={shown !== undefined}
        onClose={() => void navigate({ search: (before) => ({ ...before, skill: undefined }) })}
        position="right"
        size="md"
        kind="Skill"
        title={shown?.name}
      >
        <Stack>{shown && <SkillDetails skill={shown} />}</Stack>
      </SidePanel>
    </section>
  )
}
