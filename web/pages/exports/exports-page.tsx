import { Button, Group } from '@mantine/core'
import { IconDownload, IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { cursorOptions, hasOnePage, moreOf } from '../../components/cursor-pagination.ts'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { CreateExport } from './create-export.tsx'
import { CreatePack } from './create-pack.tsx'
import { isUnderWay, pollManyMs, pollMs } from './export-job.ts'
import { ExportsTable } from './exports-table.tsx'

const route = getRouteApi('/exports')

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
            <EmptyState title="No exports yet" icon={IconDownload} action={create}>
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
          <CreatePack onClose={endCreating} onCreated={show} />
        </Dialog>
      )}
    </>
  )
}
