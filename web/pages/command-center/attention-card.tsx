import { List, Paper, ScrollArea, Text, Title } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import styles from './attention-card.module.css'

interface AttentionCardProps {
  title: string
  /** By which rule something stands here. */
  rule: string
  children: ReactNode
}

/** One kind of what needs attention. Its height does not depend on how much there is. */
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

/** What stands in a card: its name at the left, what is said of it below, figures at the right. */
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

/** Nothing to do. */
export function AllWell({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed" className={styles.well}>
      <IconCircleCheck size={16} aria-hidden />
      {children}
    </Text>
  )
}
