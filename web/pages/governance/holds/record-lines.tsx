import { Group, List, Text } from '@mantine/core'
import type { HubRecord } from '../../../api/hub-record.ts'
import { LinkText } from '../../../components/link-text.tsx'
import { RecordTypeBadge, titleOfRecord } from '../../../components/record-type.tsx'
import { TimeText } from '../../../ui/time-text.tsx'

/** Lists records with a link to each. The link opens a new tab, so that the form stays. */
export function RecordLines({ records }: { records: readonly HubRecord[] }) {
  return (
    <List size="sm" listStyleType="none" spacing={2}>
      {records.map((record) => (
        <List.Item key={record.record_id}>
          <Group gap={8} wrap="nowrap">
            <RecordTypeBadge type={record.record_type} />
            <LinkText
              to="/records/$recordId"
              params={{ recordId: record.record_id }}
              target="_blank"
              size="sm"
              truncate
              miw={0}
            >
              {titleOfRecord(record)}
            </LinkText>
            <Text size="sm" c="dimmed" visibleFrom="sm" flex="none">
              <TimeText iso={record.created_at} form="ago" />
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  )
}
