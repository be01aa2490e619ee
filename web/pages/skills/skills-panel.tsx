import { Group, Stack, Text, Title } from '@mantine/core'
import { IconSparkles } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useMe } from '../../api/me.ts'
import { type Skill, useSkills } from '../../components/full-lists.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { UsageLink } from '../../components/usage-link.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount, formatPercent } from '../../ui/formats.ts'
import { columnsOf } from '../../ui/table-columns.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { UsdText } from '../../ui/usd-text.tsx'
import { failureRate } from '../command-center/trends.ts'
import { type Row, useMetricsByKey } from '../command-center/use-metrics.ts'
import { useRange } from '../command-center/use-range.ts'
import { SkillDetails } from './skill-details.tsx'
import { SkillStateBadge } from './skill-states.tsx'

const route = getRouteApi('/skills')

/** A skill with its usage of the last 30 days: undefined while unknown, without a row if unused. */
type UsedSkill = Skill & { invocations: number | undefined; usage: Row | undefined }

const column = columnsOf<UsedSkill>()
const skillColumns = column.columns([
  column.accessor('skill_id', {
    header: 'Skill',
    size: 170,
    meta: { grow: true },
    cell: ({ getValue }) => <UsageLink group="skill" id={getValue()} inRow />,
  }),
  column.accessor('name', { header: 'Name', size: 200, meta: { from: 'sm' } }),
  column.accessor('state', {
    header: 'State',
    size: 140,
    cell: ({ getValue }) => <SkillStateBadge state={getValue()} />,
  }),
  column.accessor((skill) => skill.versions.at(-1)?.skill_version, {
    id: 'version',
    header: 'Newest',
    size: 90,
    meta: { from: 'lg' },
  }),
  column.accessor('invocations', {
    header: 'Invocations',
    size: 125,
    meta: { from: 'md', align: 'right' },
    cell: ({ getValue }) => formatCount(getValue()),
  }),
  column.accessor((skill) => skill.usage && failureRate(skill.usage), {
    id: 'error_rate',
    header: 'Error rate',
    size: 110,
    meta: { from: 'lg', align: 'right' },
    cell: ({ getValue }) => formatPercent(getValue()),
  }),
  column.accessor((skill) => skill.usage?.cost_usd_estimate, {
    id: 'cost_usd_estimate',
    header: 'Reported cost',
    size: 140,
    meta: { from: 'xl', align: 'right' },
    cell: ({ getValue }) => <UsdText value={getValue()} />,
  }),
  column.accessor('updated_at', {
    header: 'Changed',
    size: 130,
    meta: { from: 'xl' },
    cell: ({ getValue }) => <TimeText iso={getValue()} form="ago" />,
  }),
])

/** Shows registered skills with their states. */
export function SkillsPanel() {
  const { skill: openId, search = '' } = route.useSearch()
  const navigate = useNavigate({ from: '/skills' })
  const skills = useSkills()
  const { range } = useRange({})
  const used = useMetricsByKey({ span: range, filters: {}, group: 'skill', enabled: useMe().may('summarizeTelemetry') })
  const usage = useMemo(() => new Map(used.data?.rows.map((row) => [row.key, row])), [used.data])
  const shown = skills.data?.find(({ skill_id }) => skill_id === openId)
  const wanted = search.toLowerCase()
  return (
    <section aria-labelledby="skills">
      <Group justify="space-between" mb="sm">
        <div>
          <Title order={2} id="skills">
            Skills
          </Title>
          {used.isSuccess && (
            <Text size="xs" c="dimmed">
              Figures of the last 30 days. A name opens the page of the skill.
            </Text>
          )}
        </div>
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
              rows={rows.map((skill) => {
                const row = usage.get(skill.skill_id)
                return { ...skill, usage: row, invocations: row?.invocations ?? (used.data?.complete ? 0 : undefined) }
              })}
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
