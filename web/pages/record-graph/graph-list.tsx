import { Box, Button, Group, Text } from '@mantine/core'
import { LinkText } from '../../components/link-text.tsx'
import { looksOf, RecordTypeBadge, titleOfRecord } from '../../components/record-type.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import styles from './graph-list.module.css'
import type { ShownNode } from './graph-model.ts'

interface GraphListProps {
  root: ShownNode
  onMore(more: Extract<ShownNode, { kind: 'more' }>): void
}

/** Shows the graph as a list: below each record those reached from it, with their relation. */
export function GraphList({ root, onMore }: GraphListProps) {
  return (
    <ul className={styles.list} aria-label="Linked records">
      <Item shown={root} onMore={onMore} />
    </ul>
  )
}

function Item({ shown, onMore }: { shown: ShownNode; onMore: GraphListProps['onMore'] }) {
  if (shown.kind === 'more') {
    return (
      <li>
        <Button size="compact-sm" variant="default" onClick={() => onMore(shown)}>
          +{shown.hidden} more
        </Button>
      </li>
    )
  }
  const { record, relation } = shown.node
  const { label, color, Icon } = looksOf(record.record_type)
  return (
    <li>
      <Group gap={8} wrap="nowrap" align="baseline">
        {relation && (
          <Text size="sm" c="dimmed" flex="none">
            {relation === 'names' ? 'named by' : relation === 'is named by' ? 'names' : 'names and is named by'}
          </Text>
        )}
        {/* A phone has no space for the word. */}
        <Box hiddenFrom="sm" flex="none" style={{ alignSelf: 'flex-start' }} mt={2}>
          <Icon size={16} aria-label={label} color={`var(--mantine-color-${color}-text)`} />
        </Box>
        <Box visibleFrom="sm" flex="none">
          <RecordTypeBadge type={record.record_type} />
        </Box>
        <Box flex="0 1 auto" miw={0} style={{ overflowWrap: 'anywhere' }}>
          <LinkText to="/records/$recordId" params={{ recordId: record.record_id }} size="sm">
            {titleOfRecord(record)}
          </LinkText>
        </Box>
        <Text size="sm" c="dimmed" visibleFrom="sm" flex="none">
          <TimeText iso={record.created_at} form="date" />
        </Text>
      </Group>
      {shown.children.length > 0 && (
        <ul className={styles.list}>
          {shown.children.map((child) => (
            <Item key={child.id} shown={child} onMore={onMore} />
          ))}
        </ul>
      )}
    </li>
  )
}
