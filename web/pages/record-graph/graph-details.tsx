import { Group, Stack } from '@mantine/core'
import { ActorName } from '../../components/actor-name.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { causeOf } from '../../components/record-actor.ts'
import { RecordTypeBadge, titleOfRecord } from '../../components/record-type.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import type { Related, RelatedRecord } from './graph-model.ts'

interface GraphDetailsProps {
  record: RelatedRecord | undefined
  edges: Related['edges']
  onClose(): void
}

/** Shows one record of the graph beside it. */
export function GraphDetails({ record, edges, onClose }: GraphDetailsProps) {
  return (
    <SidePanel
      opened={record !== undefined}
      onClose={onClose}
      position="right"
      size="md"
      kind="Record"
      title={record && titleOfRecord(record)}
    >
      {record && <Details record={record} edges={edges} />}
    </SidePanel>
  )
}

function Details({ record, edges }: { record: RelatedRecord; edges: Related['edges'] }) {
  const { record_id, record_type, created_at, is_purged } = record
  const params = { recordId: record_id }
  return (
    <Stack gap="lg">
      <DescriptionList>
        <DescriptionItem name="Type">
          <RecordTypeBadge type={record_type} />
        </DescriptionItem>
        <DescriptionItem name="Written">
          <TimeText iso={created_at} />
        </DescriptionItem>
        <DescriptionItem name="By">
          <ActorName id={causeOf(record)} />
        </DescriptionItem>
        <DescriptionItem name="Names">
          {edges.filter(({ from }) => from === record_id).length} records of this graph
        </DescriptionItem>
        <DescriptionItem name="Named by">
          {edges.filter(({ to }) => to === record_id).length} records of this graph
        </DescriptionItem>
        {is_purged && <DescriptionItem name="State">Purged</DescriptionItem>}
        <DescriptionItem name="Id">
          <CopyText value={record_id} label="Copy the id of the record" />
        </DescriptionItem>
      </DescriptionList>
      <Group gap="sm">
        <LinkButton to="/records/$recordId" params={params} variant="filled">
          Open record
        </LinkButton>
        <LinkButton to="/records/$recordId/graph" params={params}>
          Graph from here
        </LinkButton>
      </Group>
    </Stack>
  )
}
