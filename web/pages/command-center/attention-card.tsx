import { List, Paper, ScrollArea, Text, Title } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import styles from './attention-card.module.css'

interface AttentionCardProps {
  title: string
  /** The rule by which entries appear here. */
  rule: string
  children: ReactNode
}

/** Shows one kind of finding that needs attention. Its height does not depend on the number of entries. */
export function AttentionCard({ title, rule, children }: AttentionCardProps) {
  const id = useId()
  return (
    <Paper withBorder p="md" component="article" aria-labelledby={id} className={styles.card}>
      <Title order={2} size="h3" id={id}>
        {title}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {rule}
      </Text>
      <ScrollArea
        classNames={{ root: styles.list, viewport: styles.viewport }}
        viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': title }}
      >
        {children}
      </ScrollArea>
    </Paper>
  )
}

/** Shows the entries of a card: the name on the left with a note below it, metrics on the right. */
export function AttentionList({
  items,
}: {
  items: { id: string; name: ReactNode; said: ReactNode; figure?: ReactNode }[]
}) {
  return (
    <List listStyleType="none" spacing="xs">
      {items.map(({ id, name, said, figure }) => (
        <List.Item key={id} classNames={{ itemWrapper: styles.wrapper, itemLabel: styles.item }}>
          <div className={styles.words}>
            <Text size="sm" fw={500} truncate component="div">
              {name}
            </Text>
            <Text size="xs" c="dimmed" component="div">
              {said}
            </Text>
          </div>
          {figure}
        </List.Item>
      ))}
    </List>
  )
}

/** Shows that no action is needed. */
export function AllWell({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed" className={styles.well}>
      <IconCircleCheck size={16} aria-hidden />
      {children}
    </Text>
  )
}
