import { SimpleGrid, Skeleton } from '@mantine/core'

/** As large as the charts are. */
export function ChartsSkeleton() {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" mb="md" aria-hidden>
      {['usage', 'latency', 'cost', 'tokens'].map((kind) => (
        <Skeleton key={kind} height={339} radius="md" />
      ))}
    </SimpleGrid>
  )
}
