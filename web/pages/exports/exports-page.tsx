import { Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { canSee } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, hasOnePage, moreOf } from '../../components/cursor-pagination.ts'
import { Help } from '../../components/help.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { CreateExport } from './create-export.tsx'
import { CreatePack } from './create-pack.tsx'
import { isUnderWay, pollManyMs, pollMs } from './export-job.ts'
import { ExportsTable } from './exports-table.tsx'
import { reportsAt } from './reports.ts'

const route = getRouteApi('/exports')

/** Offers ready-made reports, which open the form filled in, below the buttons of an empty form. */
function EmptyActions({ create }: { create: ReactNode }) {
  const me = useMe()
  const [now] = useState(() => new Date())
  const offered = reportsAt(now).filter(({ needs, type }) => me.may(needs) && (!type || canSee(me.scopes, type)))
  return (
    <Stack align="center" gap="lg">
      {create}
      {offered.length > 0 && (
        <Stack component="section" aria-label="Ready-made reports" gap="xs" align="center">
          <Text size="sm" fw={600}>
            Ready-made reports
          </Text>
          <Group gap="xs" justify="center">
            {offered.map(({ label, search }) => (
              <LinkButton key={label} size="xs" to="/exports" search={search}>
                {label}
              </LinkButton>
            ))}
          </Group>
        </Stack>
      )}
    </Stack>
  )
}

export default function ExportsPage() {
  const me = useMe()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = api.useInfiniteQuery(
    'get',
    '/api/v1/hub/exports',
    { params: { query: { limit: 100 } } },
    {
      ...cursorOptions,
      refetchInterval: (list) => {
        if (!list.state.data?.pages.some(({ items }) => items.some(isUnderWay))) return false
        return hasOnePage(list) ? pollMs : pollManyMs
      },
    },
  )
  const jobs = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data])
  const isEmpty = query.data !== undefined && jobs.length === 0
  const create = (
    <Group gap="sm">
      {me.may('createEvidencePack') && (
        <Button variant="default" onClick={() => void navigate({ search: { create: 'pack' } })}>
          Create evidence pack
        </Button>
      )}
      {me.may('createExport') && (
        <Button leftSection={<IconPlus size={16} />} onClick={() => void navigate({ search: { create: '1' } })}>
          Create export
        </Button>
      )}
    </Group>
  )
  const show = (jobId: string) => void navigate({ to: '/exports/$jobId', params: { jobId } })
  const isPack = search.create === 'pack'
  const endCreating = () => void navigate({ search: {}, replace: true })
  return (
    <>
      <PageHeader
        title="Exports"
        help={<Help term="Evidence pack" />}
        about="Files of records. The manifest beside each file lets anybody verify it later without the Hub."
        actions={!isEmpty && create}
      />
      <QueryBoundary query={query} what="exports">
        {() =>
          jobs.length === 0 ? (
            <EmptyState title="No exports yet" icon={IconDownload} action={<EmptyActions create={create} />}>
              An export takes the records that a filter finds into one file: for an archive, a spreadsheet, or somebody
              who wants proof.
            </EmptyState>
          ) : (
            <ExportsTable jobs={jobs} onOpen={({ job_id }) => show(job_id)} more={moreOf(query)} />
          )
        }
      </QueryBoundary>
      {me.may('createExport') && (
        <Dialog
          opened={search.create !== undefined && !isPack}
          onClose={endCreating}
          title="Create an export"
          size="xl"
        >
          <CreateExport prefilled={search} onClose={endCreating} onCreated={show} />
        </Dialog>
      )}
      {me.may('createEvidencePack') && (
        <Dialog opened={isPack} onClose={endCreating} title="Create an evidence pack" size="lg">
          <CreatePack
            period={{ from: search.created_at__gte, to: search.created_at__lt }}
            onClose={endCreating}
            onCreated={show}
          />
        </Dialog>
      )}
    </>
  )
}
