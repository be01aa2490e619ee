import { Group, Input, SegmentedControl, Skeleton, Stack, Text, useMatches } from '@mantine/core'
import { IconAffiliate } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { formatCount } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { GraphDetails } from './graph-details.tsx'
import { GraphList } from './graph-list.tsx'
import { buildTree, type Direction, flat, openedFurther, type ShownNode, shownOf } from './graph-model.ts'
import type { GraphSearch } from './graph-search.ts'

const GraphCanvas = lazy(() => import('./graph-canvas.tsx'))

const route = getRouteApi('/records/$recordId/graph')
const graphHeight = 'max(26rem, calc(100dvh - 21rem))'

export default function GraphPage() {
  const { recordId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { depth = '2', direction = 'both' } = search
  const query = api.useQuery('get', '/api/v1/hub/records/{record_id}/related', {
    params: { path: { record_id: recordId }, query: { depth: Number(depth), direction } },
  })
  const go = (change: GraphSearch) =>
    void navigate({ search: (before: GraphSearch) => ({ ...before, ...change }), replace: true })
  const byDefault = useMatches({ base: 'list', sm: 'graph' } as const)
  const form = search.form ?? byDefault
  const root = query.data?.records.find(({ record_id }) => record_id === query.data?.root)

  return (
    <>
      <PageHeader
        title="Graph"
        about={root ? `Records that are linked with “${titleOfRecord(root)}”.` : 'Records and how they are linked.'}
        actions={
          <LinkButton to="/records/$recordId" params={{ recordId }}>
            Open record
          </LinkButton>
        }
      />
      <Group gap="md" mb="md" align="flex-end">
        <Choice
          label="Shown as"
          value={form}
          data={[
            { value: 'graph', label: 'Graph' },
            { value: 'list', label: 'List' },
          ]}
          onChange={(value) => go({ form: value as 'graph' | 'list' })}
        />
        <Choice
          label="Steps from the record"
          value={depth}
          data={['1', '2', '3', '4', '5'].map((value) => ({ value, label: value }))}
          onChange={(value) => go({ depth: value as GraphSearch['depth'] })}
        />
        <Choice
          label="Links"
          value={direction}
          data={[
            { value: 'both', label: 'All' },
            { value: 'out', label: 'It names' },
            { value: 'in', label: 'Named by' },
          ]}
          onChange={(value) => go({ direction: value as Direction })}
        />
      </Group>
      <QueryBoundary query={query} what="linked records" skeleton={<Skeleton h={graphHeight} />}>
        {(related) => (
          <Graph
            key={`${related.root} ${direction}`}
            {...{ related, direction, form }}
            openId={search.open}
            onOpen={(open) => go({ open })}
          />
        )}
      </QueryBoundary>
    </>
  )
}

interface ChoiceProps {
  label: string
  value: string
  data: { value: string; label: string }[]
  onChange(value: string): void
}

function Choice({ label, ...rest }: ChoiceProps) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <SegmentedControl aria-label={label} display="flex" w="fit-content" {...rest} />
    </Input.Wrapper>
  )
}

interface GraphProps {
  related: ApiResponse<'getRelatedRecords'>
  direction: Direction
  form: 'graph' | 'list'
  openId: string | undefined
  onOpen(id: string | undefined): void
}

function Graph({ related, direction, form, openId, onOpen }: GraphProps) {
  const [opened, setOpened] = useState<ReadonlyMap<string, number>>(new Map())
  const tree = useMemo(() => buildTree(related, direction), [related, direction])
  const shown = useMemo(() => tree && shownOf(tree, opened), [tree, opened])
  if (!shown) return null
  const count = flat(shown).filter(({ kind }) => kind === 'record').length
  const onMore = (more: Extract<ShownNode, { kind: 'more' }>) =>
    setOpened((before) => new Map(before).set(more.parent.id, openedFurther(more)))
  if (related.records.length === 1) {
    return (
      <EmptyState title="No links" icon={IconAffiliate}>
        {direction === 'both'
          ? 'This record names no other that you may see, and none names it.'
          : 'There is no link in this direction. Choose all links above.'}
      </EmptyState>
    )
  }
  return (
    <Stack gap="sm">
      {related.truncated && (
        <Notice kind="warning" title="There is more than is shown">
          {`The Hub answers ${formatCount(related.records.length)} records at once, the nearest. Take fewer steps, or begin from another record.`}
        </Notice>
      )}
      <Text size="sm" c="dimmed" role="status">
        {`${formatCount(related.records.length)} records, ${formatCount(related.edges.length)} links`}
        {count < related.records.length && `; ${formatCount(count)} are drawn, the rest is folded`}.
        {form === 'graph' && ' Arrow keys move along the links, Enter opens a record. Arrows point at what is named.'}
      </Text>
      {form === 'list' ? (
        <GraphList root={shown} onMore={onMore} />
      ) : (
        <Suspense fallback={<Skeleton h={graphHeight} />}>
          <GraphCanvas root={shown} edges={related.edges} openId={openId} onOpen={onOpen} onMore={onMore} />
        </Suspense>
      )}
      <GraphDetails
        record={related.records.find(({ record_id }) => record_id === openId)}
        edges={related.edges}
        onClose={() => onOpen(undefined)}
      />
    </Stack>
  )
}
