import { SimpleGrid, Skeleton } from '@mantine/core'
import styles from './charts-skeleton.module.css'

/** Shows a placeholder of the size of the charts. */
export function ChartsSkeleton() {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" mb="md" aria-hidden>
      {['usage', 'latency', 'cost', 'tokens'].map((kind) => (
        <Skeleton key={kind} className={styles.chart} radius="md" />
      ))}
    </SimpleGrid>
  )
}
